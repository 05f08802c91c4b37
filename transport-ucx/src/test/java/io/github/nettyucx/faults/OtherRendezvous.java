// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.SeededBytes;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxTraffic;
import io.github.nettyucx.wire.SizeClass;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;

import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Rendezvous with a living process, there and back, that go on while another one is killed in the middle of its own.
 * They have their buffers from the allocator that the channels to that one have, on the same loop, and so from the same
 * arena and the same chunks.
 */
final class OtherRendezvous extends ChannelInboundHandlerAdapter {

    private static final int SIZE = Traffic.RENDEZVOUS_BYTES;
    private static final long PAUSE_MILLIS = 5;
    private static final long SECONDS = 20;
    private static final int BEATS = 3;
    private static final int WARM_BEATS = 50;

    private final SeededBytes bytes = new SeededBytes(4712);
    private final Chunks chunks = new Chunks();
    private final UcxSocketChannel channel;
    // The loop's.
    private ChannelHandlerContext context;
    private boolean running;
    private boolean ended;
    private long sent;
    private long completed;
    private long received;
    private volatile long beats;
    private volatile Throwable failure;

    /** @param echo of a process that lives, see {@link EchoMain#BY_RENDEZVOUS} */
    OtherRendezvous(EventLoopGroup loop, ByteBufAllocator allocator, SocketAddress echo) throws InterruptedException {
        channel = (UcxSocketChannel) Peers.await(new Bootstrap().group(loop).channel(UcxSocketChannel.class)
                .option(ChannelOption.ALLOCATOR, allocator).option(ChannelOption.SO_RCVBUF, Traffic.WINDOW)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(SIZE))
                .handler(this).connect(echo)).channel();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    void begin() {
        channel.eventLoop().execute(() -> {
            running = true;
            // The last one may still be on its way.
            if (received == sent) {
                send();
            }
        });
    }

    /** After the one that is on its way. */
    void rest() {
        channel.eventLoop().execute(() -> running = false);
    }

    private void send() {
        ByteBuf ping = context.alloc().directBuffer(SIZE).writeBytes(bytes.at(sent, SIZE));
        Object chunk = chunks.add(ping);
        sent += SIZE;
        context.writeAndFlush(ping).addListener(done -> {
            chunks.remove(chunk);
            completed += SIZE;
            if (!done.isSuccess()) {
                exceptionCaught(context, done.cause());
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext reading, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        int length = buffer.readableBytes();
        try {
            bytes.check(received, buffer);
        } finally {
            buffer.release();
        }
        received += length;
        if (received == sent) {
            beats++;
            if (running) {
                reading.executor().schedule(() -> {
                    if (running && received == sent) {
                        send();
                    }
                }, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        exceptionCaught(inactive, new IllegalStateException("the channel became inactive"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext failing, Throwable cause) {
        if (failure == null && !ended) {
            failure = cause;
        }
    }

    /** Whether UCX still uses the memory of a message that it has been given. Asked by the loop. */
    boolean isUnderWay() {
        return channel.metrics().bytesSent() > completed;
    }

    /** Of what it has under way. For the loop. */
    Chunks chunks() {
        return chunks;
    }

    /** Classes are loaded and methods compiled before anything is measured. */
    void warm() throws Exception {
        begin();
        awaitBeats(WARM_BEATS);
        rest();
    }

    void awaitBeats() throws Exception {
        awaitBeats(BEATS);
    }

    private void awaitBeats(int count) throws Exception {
        long before = beats;
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the rendezvous with a living process have stopped",
                () -> {
                    check();
                    return beats >= before + count;
                });
    }

    void check() {
        if (failure != null) {
            throw new AssertionError("the rendezvous with a living process, which are nobody's business, failed", failure);
        }
    }

    /**
     * All of them were: none has been cut into messages that are no rendezvous, and UCX has completed none in the call.
     *
     * @return how many
     */
    long end() throws Exception {
        rest();
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "a rendezvous with a living process does not end",
                () -> channel.eventLoop().submit(() -> received == sent && completed == sent).get());
        return channel.eventLoop().submit(() -> {
            ended = true;
            check();
            UcxTraffic traffic = channel.metrics();
            long expected = sent / SIZE;
            String counted = traffic.messagesSent() + " messages, " + traffic.messagesSent(SizeClass.LARGER) + " large, "
                    + traffic.sendsDeferred() + " deferred; received " + traffic.messagesReceived(SizeClass.LARGER)
                    + " large, " + traffic.receivesDeferred() + " deferred";
            boolean all = traffic.messagesSent() == expected && traffic.messagesSent(SizeClass.LARGER) == expected
                    && traffic.sendsDeferred() == expected
                    && traffic.receivesDeferred() == traffic.messagesReceived()
                    && traffic.messagesReceived() == received / SIZE;
            if (!all) {
                throw new AssertionError("of " + expected + " rendezvous with a living process not all were: " + counted);
            }
            return expected;
        }).get();
    }
}
