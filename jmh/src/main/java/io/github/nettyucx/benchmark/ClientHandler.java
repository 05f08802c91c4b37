// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.AbstractHistogram;

/**
 * The client's end of a connection. The clock of a round trip runs from just before the write to the arrival of the
 * reply's last byte. Fields belong to the channel's event loop, except where noted.
 */
final class ClientHandler extends ChannelInboundHandlerAdapter {
    /** Decides when round trips are made; called on the handler's event loop. */
    interface Turns {
        /** What is usual: one follows the other. */
        Turns AT_ONCE = new Turns() {
            @Override
            public void begun(ClientHandler handler) {
                handler.ping();
            }

            @Override
            public void completed(ClientHandler handler, boolean last) {
                if (!last) {
                    handler.ping();
                }
            }
        };

        void begun(ClientHandler handler);

        /**
         * @param last the phase is over
         */
        void completed(ClientHandler handler, boolean last);
    }

    private ChannelHandlerContext ctx;
    private Sender sender;
    private ByteBuf message;
    /** Why there will be no more phases. */
    private Throwable failure;

    private Phase phase;
    private Promise<Void> done;
    private AbstractHistogram histogram;
    private Turns turns = Turns.AT_ONCE;
    private long roundTrips;
    private long sentAt;
    /** Bytes that have not arrived: of the reply under way, or else of the phase. */
    private long missing;
    /** Written by the event loop, read by whoever watches for a stall. */
    private final AtomicLong bytesReceived = new AtomicLong();

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        sender = new Sender(ctx);
    }

    /** From any thread, when the channel is connected and the phase before is over. */
    Future<Void> start(Phase begun, AbstractHistogram nanos) {
        return start(begun, nanos, Turns.AT_ONCE);
    }

    /**
     * From any thread, when the channel is connected and the phase before is over.
     *
     * @param nanos records the durations of round trips, or {@code null}
     * @param turns makes the round trips, by {@link #ping()}
     */
    Future<Void> start(Phase begun, AbstractHistogram nanos, Turns turns) {
        Promise<Void> promise = ctx.executor().newPromise();
        ctx.executor().execute(() -> {
            if (failure != null) {
                promise.setFailure(failure);
                return;
            }
            phase = begun;
            done = promise;
            histogram = nanos;
            this.turns = turns;
            begin();
        });
        return promise;
    }

    private void begin() {
        if (message == null || message.readableBytes() != phase.size()) {
            releaseMessage();
            // As large as it may be: TLS would have it grow, to collect what follows it in one record.
            message = ctx.alloc().directBuffer(phase.size(), phase.size()).writeZero(phase.size());
        }
        var header = ctx.alloc().directBuffer(Phase.HEADER);
        phase.encode(header);
        ctx.write(header, ctx.voidPromise());
        switch (phase.kind()) {
            case ECHO -> {
                ctx.flush();
                roundTrips = phase.count();
                turns.begun(this);
            }
            case TO_SERVER -> {
                missing = Phase.ACKNOWLEDGEMENT;
                sender.start(phase, message);
            }
            case BOTH_WAYS -> {
                missing = phase.count() * phase.size() + Phase.ACKNOWLEDGEMENT;
                sender.start(phase, message);
            }
        }
    }

    /** Makes one round trip; on the event loop. */
    void ping() {
        missing = phase.size();
        sentAt = System.nanoTime();
        // A void promise: failures arrive at exceptionCaught, and there is no promise to allocate per message.
        ctx.writeAndFlush(message.retainedDuplicate(), ctx.voidPromise());
    }

    /** Makes one round trip after that time, if the channel still is open; on the event loop. */
    void pingLater(long nanos) {
        ctx.executor().schedule(() -> {
            if (ctx.channel().isActive()) {
                ping();
            }
        }, nanos, TimeUnit.NANOSECONDS);
    }

    /** As {@link #ping()}, from any thread. */
    void pingFromAnywhere() {
        if (ctx.executor().inEventLoop()) {
            ping();
        } else {
            ctx.executor().execute(this::ping);
        }
    }

    /** Messages that the running phase has written. From any thread; an older value may be seen. */
    long sent() {
        return sender.sent();
    }

    /** Grows as long as anything happens. From any thread; an older value may be seen. */
    long moved() {
        return bytesReceived.get() + sender.sent();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        var in = (ByteBuf) msg;
        var length = in.readableBytes();
        missing -= length;
        if (missing > 0) {
            in.release();
        } else {
            var now = System.nanoTime();
            in.release();
            arrived(now);
        }
        bytesReceived.lazySet(bytesReceived.getPlain() + length);
    }

    private void arrived(long now) {
        if (missing < 0 || phase == null) {
            throw new ExampleFailure("the server sent more than it was asked for");
        }
        if (phase.kind() == Phase.Kind.ECHO) {
            if (histogram != null) {
                Durations.record(histogram, now - sentAt);
            }
            roundTrips--;
            turns.completed(this, roundTrips == 0);
            if (roundTrips > 0) {
                return;
            }
        }
        phase = null;
        done.setSuccess(null);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        sender.writabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(new ExampleFailure("the server closed the connection"));
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
        if (done != null) {
            done.tryFailure(failure);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        releaseMessage();
    }

    private void releaseMessage() {
        if (message != null) {
            message.release();
            message = null;
        }
    }
}
