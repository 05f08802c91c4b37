// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxTraffic;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;

import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What one side of a connection does until something happens to it. Remembers what became of its writes. */
final class Traffic extends ChannelInboundHandlerAdapter {

    enum Kind {
        /** Greets and is silent. */
        QUIET,
        /** Writes messages as fast as it can, most of them small, and some of many fragments; none is a rendezvous. */
        EAGER,
        /** Writes messages as fast as it can, each of which travels by rendezvous where there is such a thing. */
        RENDEZVOUS,
        /** Reads what comes. */
        READS,
        /** Does not read. */
        PAUSED,
        /** Writes a little, and closes. */
        CLOSES,
        /** Writes more than the peer takes, and closes. */
        WRITES_AND_CLOSES
    }

    /** Of both sides, for messages that are large enough for a rendezvous: an eighth of it. */
    static final int WINDOW = 8 * 1024 * 1024;
    /**
     * As the transport has UCX do where there is no RDMA device. It does not cut messages of that size: an eighth of
     * the window is the least that it sends of what is longer.
     */
    static final int RENDEZVOUS_BYTES = 1024 * 1024;
    /** One of so many eager messages has many fragments. */
    private static final int FRAGMENTED = 16;
    private static final int BURST = 8;
    private static final int MUCH = 4 * WINDOW;

    private final Kind kind;
    private final SplittableRandom random;
    private final Runnable onBegun;
    private final Runnable onProgress;
    /** Of the buffers of writes that are not done. */
    private final Chunks chunks = new Chunks();
    private final Queue<Throwable> failedWrites = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> exceptions = new ConcurrentLinkedQueue<>();
    private volatile boolean active;
    private volatile boolean closing;
    private volatile boolean read;
    // The loop's to write.
    private volatile long pendingWrites;
    private volatile long completed;
    private UcxSocketChannel channel;

    /**
     * @param onBegun    called when the first bytes come, or with the connection if none are read
     * @param onProgress called when a connection begins, opens, is closed or has ended, and when bytes have been sent,
     *                   have come, or are done
     */
    Traffic(Kind kind, SplittableRandom random, Runnable onBegun, Runnable onProgress) {
        this.kind = kind;
        this.random = random;
        this.onBegun = onBegun;
        this.onProgress = onProgress;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        channel = (UcxSocketChannel) context.channel();
        channel.closeFuture().addListener(closed -> onProgress.run());
        onProgress.run();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        active = true;
        onProgress.run();
        switch (kind) {
            case QUIET, READS -> write(context, 100);
            case PAUSED -> {
                context.channel().config().setAutoRead(false);
                onBegun.run();
                write(context, 100);
            }
            case EAGER, RENDEZVOUS -> writeOn(context);
            case CLOSES -> {
                onBegun.run();
                for (int i = random.nextInt(BURST); i >= 0; i--) {
                    write(context, random.nextBoolean() ? eagerSize() : RENDEZVOUS_BYTES);
                }
                context.flush();
                context.executor().execute(() -> close(context));
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
            write(context, kind == Kind.EAGER ? eagerSize() : RENDEZVOUS_BYTES);
        }
        context.flush();
        onProgress.run();
        if (context.channel().isActive() && context.channel().isWritable()) {
            context.executor().execute(() -> writeOn(context));
        }
    }

    private int eagerSize() {
        return random.nextInt(FRAGMENTED) == 0 ? random.nextInt(100_000, 256 * 1024) : random.nextInt(1, 2000);
    }

    private void write(ChannelHandlerContext context, int length) {
        pendingWrites++;
        ByteBuf buffer = context.alloc().directBuffer(length).writeZero(length);
        Object chunk = chunks.add(buffer);
        context.write(buffer).addListener(future -> {
            chunks.remove(chunk);
            written(future, length);
        });
    }

    private void written(Future<? super Void> future, int length) {
        pendingWrites--;
        if (future.isSuccess()) {
            completed += length;
        } else {
            failedWrites.add(future.cause());
        }
        onProgress.run();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if ((kind == Kind.EAGER || kind == Kind.RENDEZVOUS) && context.channel().isWritable()) {
            writeOn(context);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        boolean any = ((ByteBuf) message).isReadable();
        ReferenceCountUtil.release(message);
        onProgress.run();
        if (any && !read) {
            read = true;
            onBegun.run();
            if (kind == Kind.WRITES_AND_CLOSES) {
                close(context);
            }
        }
    }

    private void close(ChannelHandlerContext context) {
        closing = true;
        onProgress.run();
        context.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        exceptions.add(cause);
    }

    /** To be asked by the loop. */
    Progress progress() {
        if (channel == null) {
            return Progress.NONE;
        }
        UcxTraffic metrics = channel.metrics();
        boolean open = channel.isOpen();
        return new Progress(open && !active ? 1 : 0, open && closing ? 1 : 0, metrics.bytesSent(), completed,
                metrics.bytesReceived());
    }

    /** Of what it has under way. For the loop. */
    Chunks chunks() {
        return chunks;
    }

    /** Whether the channel has been told to close, and waits for the peer to take what was written. */
    boolean isLingering() {
        return closing && pendingWrites > 0;
    }

    boolean hasRead() {
        return read;
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
