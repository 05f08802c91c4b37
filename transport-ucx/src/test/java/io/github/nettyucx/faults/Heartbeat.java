// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.SeededBytes;
import io.github.nettyucx.channel.Starvation;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * A ping-pong that never ends: sends bytes to an echo, checks what comes back, and sends the next a millisecond later.
 * Remembers how long nothing came.
 */
final class Heartbeat extends ChannelInboundHandlerAdapter {

    private static final long PAUSE_MICROS = 1000;
    private static final long NOTABLE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * A time without a beat, longer than most.
     *
     * @param starvedNanos for how long of it those who keep the beat had no processor
     */
    record Gap(long from, long to, long starvedNanos) {

        Gap(long from, long to) {
            this(from, to, 0);
        }

        long nanos() {
            return to - from;
        }
    }

    private final String name;
    private final int size;
    private final SeededBytes bytes = new SeededBytes(4711);
    private final Queue<Gap> gaps = new ConcurrentLinkedQueue<>();
    private long sent;
    private long received;
    private volatile Channel channel;
    private volatile long beats;
    private volatile long lastNanos;
    private volatile Starvation starvation;
    /** At the last beat. */
    private volatile long lastStarved;
    private volatile Throwable failure;
    private volatile boolean ended;

    /** @param size of one ping, in bytes */
    Heartbeat(String name, int size) {
        this.name = name;
        this.size = size;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        channel = context.channel();
        lastNanos = System.nanoTime();
        send(context);
    }

    private void send(ChannelHandlerContext context) {
        context.writeAndFlush(Unpooled.directBuffer(size).writeBytes(bytes.at(sent, size)));
        sent += size;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        int length = buffer.readableBytes();
        try {
            bytes.check(received, buffer);
        } finally {
            buffer.release();
        }
        received += length;
        if (received == sent) {
            beat();
            if (!ended) {
                context.executor().schedule(() -> send(context), PAUSE_MICROS, TimeUnit.MICROSECONDS);
            }
        }
    }

    private void beat() {
        long now = System.nanoTime();
        Starvation keepers = starvation;
        long starved = keepers == null ? 0 : keepers.nanos();
        if (now - lastNanos > NOTABLE_NANOS) {
            gaps.add(new Gap(lastNanos, now, starved - lastStarved));
        }
        lastStarved = starved;
        lastNanos = now;
        beats++;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!ended) {
            exceptionCaught(context, new IllegalStateException("the channel became inactive"));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /** Who keeps it, from now on. */
    void keptBy(Starvation keepers) {
        lastStarved = keepers.nanos();
        starvation = keepers;
    }

    /** No more is expected of it. */
    void end() {
        ended = true;
    }

    Channel channel() {
        return channel;
    }

    long beats() {
        return beats;
    }

    /** The notable ones, and the one that is not over. */
    List<Gap> gaps() {
        List<Gap> all = new ArrayList<>(gaps);
        if (!ended) {
            Starvation keepers = starvation;
            all.add(new Gap(lastNanos, System.nanoTime(), keepers == null ? 0 : keepers.nanos() - lastStarved));
        }
        return all;
    }

    void check() {
        if (failure != null) {
            throw new AssertionError("the heartbeat '" + name + "', which is nobody's business, failed", failure);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
