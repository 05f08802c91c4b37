// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryException;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;

/** A channel from a client to the owner of memory, in one process. */
final class MemoryPair implements AutoCloseable {

    static final UcxMemoryRight[] ALL = UcxMemoryRight.values();
    static final long SECONDS = 15;

    /** Where memory comes from. */
    enum Kind {
        SHARED, CHECKED, BUFFER;

        UcxMemory allocate(int length, UcxMemoryRight... rights) {
            return switch (this) {
                case SHARED -> UcxMemory.allocate(length, rights);
                case CHECKED -> UcxMemory.allocateChecked(length, rights);
                case BUFFER -> {
                    ByteBuf buffer = Unpooled.directBuffer(length).writeZero(length);
                    UcxMemory memory = UcxMemory.of(buffer, rights);
                    buffer.release();
                    yield memory;
                }
            };
        }
    }

    final Peers peers = new Peers();
    final Inbox client = new Inbox();
    final Owner owner = new Owner();
    final UcxSocketChannel channel;

    /** Remembers notifications. */
    @ChannelHandler.Sharable
    static class Owner extends Inbox {

        final BlockingQueue<UcxMemoryNotification> notifications = new LinkedBlockingQueue<>();
        /** Runs on the loop, before the notification is remembered. */
        volatile Consumer<UcxMemoryNotification> onNotification = notification -> { };

        /** Runs on the loop, with what has been read. */
        volatile Consumer<ByteBuf> onRead = buffer -> { };

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            onRead.accept((ByteBuf) message);
            super.channelRead(context, message);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
            if (event instanceof UcxMemoryNotification notification) {
                onNotification.accept(notification);
                notifications.add(notification);
            } else {
                super.userEventTriggered(context, event);
            }
        }

        UcxMemoryNotification awaitNotification() throws InterruptedException {
            UcxMemoryNotification notification = notifications.poll(SECONDS, TimeUnit.SECONDS);
            assertNotNull(notification, "no notification");
            return notification;
        }
    }

    MemoryPair() throws Exception {
        channel = peers.connect(peers.listen(() -> owner), client);
        owner.awaitActive();
    }

    UcxRemoteMemory open(UcxMemory memory, UcxMemoryRight... rights) throws InterruptedException {
        return open(channel, memory.exportKey(rights));
    }

    static UcxRemoteMemory open(UcxSocketChannel channel, byte[] key) throws InterruptedException {
        return Peers.await(channel.openMemory(key)).getNow();
    }

    static void assertRefused(UcxMemoryException.Reason reason, Future<?> future) throws InterruptedException {
        UcxMemoryException refusal = assertInstanceOf(UcxMemoryException.class, Peers.awaitFailure(future));
        assertEquals(reason, refusal.reason(), refusal::getMessage);
    }

    static byte[] bytes(UcxMemory memory) {
        return memory.segment().toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
        peers.close();
    }
}
