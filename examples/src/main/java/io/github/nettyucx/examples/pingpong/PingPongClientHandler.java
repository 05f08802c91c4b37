// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.AbstractHistogram;

/**
 * Sends a message, waits for all of its reply, and only then sends the next. The clock runs from just before the write
 * to the arrival of the reply's last byte; preparing a message and checking a reply happen while it stands still.
 *
 * <p>All fields belong to the channel's event loop, except where noted.
 */
final class PingPongClientHandler extends ChannelInboundHandlerAdapter {
    private final int size;
    private final long connection;
    private final List<ByteBuf> reply = new ArrayList<>();
    /** Written by the event loop, read by whoever watches the progress. */
    private final AtomicLong bytesReceived = new AtomicLong();

    private ChannelHandlerContext ctx;
    private ByteBuf message;
    private Promise<Void> run;
    /** Why there will be no more round trips. */
    private Throwable failure;
    private AbstractHistogram histogram;
    private boolean checkAll;
    private long remaining;
    private long sequence;
    private long sentAt;
    private int missing;

    PingPongClientHandler(int size, long connection) {
        this.size = size;
        this.connection = connection;
    }

    /** From any thread, once the channel is connected: makes one round trip and compares every byte of the reply. */
    Future<Void> proveOnce() {
        return start(1, null, true);
    }

    /**
     * From any thread, once the channel is connected: makes round trips, one after the other. One run at a time.
     *
     * @param histogram records their durations in nanoseconds and is the event loop's until the future is done, or
     *         {@code null} to record nothing
     */
    Future<Void> roundTrips(long count, AbstractHistogram histogram) {
        return start(count, histogram, false);
    }

    private Future<Void> start(long count, AbstractHistogram histogram, boolean checkAll) {
        Promise<Void> promise = ctx.executor().newPromise();
        if (count == 0) {
            return promise.setSuccess(null);
        }
        ctx.executor().execute(() -> {
            if (failure != null) {
                promise.setFailure(failure);
                return;
            }
            run = promise;
            remaining = count;
            this.histogram = histogram;
            this.checkAll = checkAll;
            ping();
        });
        return promise;
    }

    /** From any thread; an older value may be seen. */
    long bytesReceived() {
        return bytesReceived.get();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        message = ctx.alloc().directBuffer(size, size);
        PingPongMessage.fill(message, size, connection);
        ctx.writeAndFlush(Preamble.encode(ctx.alloc(), size), ctx.voidPromise());
        ctx.fireChannelActive();
    }

    private void ping() {
        if (message.refCnt() > 1) {
            // The transport still holds the previous message, and what it holds must not change.
            var copy = message.copy();
            message.release();
            message = copy;
        }
        PingPongMessage.number(message, size, ++sequence);
        missing = size;
        sentAt = System.nanoTime();
        // A void promise: failures arrive at exceptionCaught, and there is no promise to allocate per message.
        ctx.writeAndFlush(message.retainedDuplicate(), ctx.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        var in = (ByteBuf) msg;
        var length = in.readableBytes();
        reply.add(in);
        missing -= length;
        if (missing > 0) {
            bytesReceived.lazySet(bytesReceived.getPlain() + length);
            return;
        }
        var duration = System.nanoTime() - sentAt;
        bytesReceived.lazySet(bytesReceived.getPlain() + length);
        checkReply();
        if (histogram != null) {
            histogram.recordValue(Math.min(duration, histogram.getHighestTrackableValue()));
        }
        if (--remaining > 0) {
            ping();
        } else {
            var finished = run;
            run = null;
            finished.setSuccess(null);
        }
    }

    private void checkReply() {
        if (run == null || missing < 0) {
            throw new ExampleFailure("the server sent " + (run == null ? reply.getLast().readableBytes() : -missing)
                    + " bytes more than the " + size + " of its reply to round trip " + sequence);
        }
        var whole = reply.size() == 1 ? reply.getFirst() : Unpooled.wrappedBuffer(reply.toArray(ByteBuf[]::new));
        reply.clear();
        try {
            PingPongMessage.checkNumber(whole, size, sequence);
            if (checkAll) {
                PingPongMessage.checkAll(whole, message, sequence);
            }
        } finally {
            whole.release();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new ExampleFailure("the server closed the connection, " + sequence + " requests were sent"));
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
        ctx.close();
    }

    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        if (run != null) {
            run.tryFailure(failure);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (message != null) {
            message.release();
        }
        reply.forEach(ByteBuf::release);
        reply.clear();
    }
}
