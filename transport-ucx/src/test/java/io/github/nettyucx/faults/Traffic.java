// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What one side of a connection does until something happens to it. Remembers what became of its writes. */
final class Traffic extends ChannelInboundHandlerAdapter {

    enum Kind {
        /** Greets and is silent. */
        QUIET,
        /** Writes small messages as fast as it can. */
        SMALL,
        /** Writes large messages as fast as it can, one half of which travel by rendezvous. */
        LARGE,
        /** Reads what comes. */
        READS,
        /** Does not read. */
        PAUSED,
        /** Writes a little, and closes. */
        CLOSES,
        /** Writes more than the peer takes, and closes. */
        WRITES_AND_CLOSES
    }

    /** Of both sides, for messages that are large enough for a rendezvous: a quarter of it. */
    static final int WINDOW = 8 * 1024 * 1024;
    private static final int MAX_MESSAGE = WINDOW / 4;
    /** As the transport has UCX do where there is no RDMA device. */
    private static final int RENDEZVOUS_FROM = 1024 * 1024;
    private static final int BURST = 8;
    private static final int MUCH = 4 * WINDOW;

    private final Kind kind;
    private final SplittableRandom random;
    private final Runnable onBegun;
    private final Queue<Throwable> failedWrites = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> exceptions = new ConcurrentLinkedQueue<>();
    private volatile boolean active;
    private boolean read;
    /** The loop's to write. */
    private volatile long pendingWrites;

    /** @param onBegun called when the first bytes come, or with the connection if none are read */
    Traffic(Kind kind, SplittableRandom random, Runnable onBegun) {
        this.kind = kind;
        this.random = random;
        this.onBegun = onBegun;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        active = true;
        switch (kind) {
            case QUIET, READS -> write(context, 100);
            case PAUSED -> {
                context.channel().config().setAutoRead(false);
                onBegun.run();
                write(context, 100);
            }
            case SMALL, LARGE -> writeOn(context);
            case CLOSES -> {
                onBegun.run();
                for (int i = random.nextInt(BURST); i >= 0; i--) {
                    write(context, random.nextBoolean() ? smallSize() : largeSize());
                }
                context.flush();
                context.executor().execute(context::close);
            }
            case WRITES_AND_CLOSES -> {
                for (int i = 0; i < MUCH; i += 256 * 1024) {
                    write(context, 256 * 1024);
                }
            }
        }
        context.flush();
    }

    private void writeOn(ChannelHandlerContext context) {
        for (int i = 0; i < BURST && context.channel().isWritable(); i++) {
            write(context, kind == Kind.SMALL ? smallSize() : largeSize());
        }
        context.flush();
        if (context.channel().isActive() && context.channel().isWritable()) {
            context.executor().execute(() -> writeOn(context));
        }
    }

    private int smallSize() {
        return random.nextInt(1, 2000);
    }

    private int largeSize() {
        return random.nextBoolean() ? random.nextInt(100_000, 256 * 1024)
                : random.nextInt(RENDEZVOUS_FROM, MAX_MESSAGE);
    }

    private void write(ChannelHandlerContext context, int length) {
        pendingWrites++;
        context.write(context.alloc().directBuffer(length).writeZero(length)).addListener(this::written);
    }

    private void written(io.netty.util.concurrent.Future<? super Void> future) {
        pendingWrites--;
        if (!future.isSuccess()) {
            failedWrites.add(((ChannelFuture) future).cause());
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if ((kind == Kind.SMALL || kind == Kind.LARGE) && context.channel().isWritable()) {
            writeOn(context);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        boolean any = ((ByteBuf) message).isReadable();
        ReferenceCountUtil.release(message);
        if (any && !read) {
            read = true;
            onBegun.run();
            if (kind == Kind.WRITES_AND_CLOSES) {
                context.close();
            }
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        exceptions.add(cause);
    }

    boolean wasActive() {
        return active;
    }

    long pendingWrites() {
        return pendingWrites;
    }

    Queue<Throwable> failedWrites() {
        return failedWrites;
    }

    Queue<Throwable> exceptions() {
        return exceptions;
    }
}
