// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Where a datagram channel's packets are read to, and what becomes of it when the application's allocator throws. */
@Timeout(60)
class DatagramAllocatorTest extends DatagramChannels {

    @Test
    void anAllocatorOfTheHeapWillDo() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = bind(mailbox);
        receiver.config().setAllocator(new UnpooledByteBufAllocator(false));
        receiver.config().setRecvByteBufAllocator(new HeapBuffers());
        UcxDatagramChannel sender = bind(new Mailbox());
        Peers.await(send(sender, "hello", receiver.localAddress()));
        assertEquals("hello", mailbox.next());
    }

    /** Allocates where the kernel cannot write. */
    @SuppressWarnings("deprecation")
    private static final class HeapBuffers extends FixedRecvByteBufAllocator {

        HeapBuffers() {
            super(100);
        }

        @Override
        public Handle newHandle() {
            return new DelegatingHandle(super.newHandle()) {
                @Override
                public ByteBuf allocate(ByteBufAllocator allocator) {
                    return allocator.heapBuffer(guess());
                }
            };
        }
    }

    @Test
    void aDatagramWaitsUntilTheAllocatorHasAHandleForIt() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = (UcxDatagramChannel) bootstrap(mailbox)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new Unwilling()).bind(ANY_PORT).syncUninterruptibly().channel();
        Peers.await(send(bind(new Mailbox()), "hello", receiver.localAddress()));
        for (int i = 0; i < Unwilling.TIMES; i++) {
            assertEquals("java.lang.IllegalStateException: unwilling, as the test wants it", mailbox.next());
        }
        assertEquals("hello", mailbox.next());
    }

    /** The loop has others to serve, and only time can bring a handle. */
    @Test
    void anAllocatorWithoutAHandleIsAskedAgainAfterARest() throws Exception {
        BlockingQueue<Long> asked = new LinkedBlockingQueue<>();
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = (UcxDatagramChannel) bootstrap(mailbox)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(100) {
                    @Override
                    @SuppressWarnings("deprecation")
                    public Handle newHandle() {
                        asked.add(System.nanoTime());
                        throw new IllegalStateException("never, as the test wants it");
                    }
                }).bind(ANY_PORT).syncUninterruptibly().channel();
        UcxDatagramChannel sender = bind(new Mailbox());
        Peers.await(send(sender, "hello", receiver.localAddress()));
        assertEquals("java.lang.IllegalStateException: never, as the test wants it", mailbox.next());
        // Neither what comes meanwhile nor a wish to read makes it any sooner.
        Peers.await(send(sender, "is anybody there?", receiver.localAddress()));
        receiver.read();
        assertEquals("java.lang.IllegalStateException: never, as the test wants it", mailbox.next());
        long rested = -asked.remove() + asked.remove();
        assertTrue(rested >= TimeUnit.MILLISECONDS.toNanos(500), () -> "asked again after " + rested + " ns");
        assertTrue(receiver.isOpen());
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
    void aChannelWhoseAllocatorThrowsInTheMiddleOfAReadIsClosed(Class<? extends Throwable> thrown) throws Exception {
        Throwable cause = thrown.getConstructor(String.class).newInstance("no buffer, as the test wants it");
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = (UcxDatagramChannel) bootstrap(mailbox)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new WithoutBuffers(cause)).bind(ANY_PORT).syncUninterruptibly()
                .channel();
        Peers.await(send(bind(new Mailbox()), "hello", receiver.localAddress()));
        assertEquals(cause.toString(), mailbox.next());
        Peers.await(receiver.closeFuture());
        assertEquals(0, mailbox.letters.size(), "told again");
    }

    /** Throws when it is asked for a buffer. */
    @SuppressWarnings("deprecation")
    private static final class WithoutBuffers extends FixedRecvByteBufAllocator {

        private final Throwable cause;

        WithoutBuffers(Throwable cause) {
            super(100);
            this.cause = cause;
        }

        @Override
        public Handle newHandle() {
            return new DelegatingHandle(super.newHandle()) {
                @Override
                public ByteBuf allocate(ByteBufAllocator allocator) {
                    PlatformDependent.throwException(cause);
                    return null;
                }
            };
        }
    }

    /** Nothing would make it read again. */
    @Test
    void aChannelWhoseAllocatorThrowsAtTheEndOfAReadIsClosed() throws Exception {
        Mailbox mailbox = new Mailbox();
        UcxDatagramChannel receiver = (UcxDatagramChannel) bootstrap(mailbox)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new UnfinishedReads(100)).bind(ANY_PORT).syncUninterruptibly()
                .channel();
        Peers.await(send(bind(new Mailbox()), "hello", receiver.localAddress()));
        assertEquals("hello", mailbox.next());
        assertEquals("java.lang.IllegalStateException: a read never ends, as the test wants it", mailbox.next());
        Peers.await(receiver.closeFuture());
    }

    /** Throws when it is asked for a handle, and when that is reset. */
    @SuppressWarnings("deprecation")
    private static final class Unwilling extends FixedRecvByteBufAllocator {

        static final int TIMES = 2;

        private int asked;

        Unwilling() {
            super(100);
        }

        private void refuse(int time) {
            if (asked++ == time) {
                throw new IllegalStateException("unwilling, as the test wants it");
            }
        }

        @Override
        public Handle newHandle() {
            refuse(0);
            return new DelegatingHandle(super.newHandle()) {
                @Override
                public void reset(ChannelConfig config) {
                    refuse(2);
                    super.reset(config);
                }
            };
        }
    }
}
