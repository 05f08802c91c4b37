// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;

import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Checks that what a channel reads is a {@link SeededBytes} stream, of a certain length and with an orderly end.
 * Stops reading now and then.
 */
final class StreamReader extends ChannelInboundHandlerAdapter {

    /** How the application asks for bytes. */
    enum Demand {
        /** Netty does it. */
        AUTOMATIC,
        /** Netty does it, with interruptions of some microseconds to milliseconds. */
        INTERRUPTED,
        /** The application does it, after each read. */
        MANUAL
    }

    private final SeededBytes stream;
    private final long total;
    private final Demand demand;
    private final SplittableRandom random;
    private final CompletableFuture<Void> received = new CompletableFuture<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    // The event loop's.
    private long position;
    private int readsOfTurn;
    private int inputShutdowns;
    private int inputShutdownReads;

    /** @param total bytes to read */
    StreamReader(long streamSeed, long total, Demand demand, SplittableRandom random) {
        stream = new SeededBytes(streamSeed);
        this.total = total;
        this.demand = demand;
        this.random = random;
    }

    /** Completes when the last byte has been read. */
    CompletableFuture<Void> received() {
        return received;
    }

    /**
     * Completes when the end of the input has been seen, as an event or as the channel's end, and fails with the first
     * thing that is wrong.
     */
    CompletableFuture<Void> ended() {
        return ended;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (total == 0) {
            received.complete(null);
        }
        if (demand == Demand.MANUAL) {
            context.read();
        }
        context.fireChannelActive();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        try {
            if (!buffer.isReadable()) {
                throw new AssertionError("read an empty buffer at " + position);
            }
            int length = buffer.readableBytes();
            if (position + length > total) {
                throw new AssertionError("read " + (position + length - total) + " bytes too many");
            }
            if (readsOfTurn++ > 0 && !context.channel().config().isAutoRead() && demand == Demand.INTERRUPTED) {
                throw new AssertionError("read again, after autoRead had been switched off during the last read");
            }
            stream.check(position, buffer);
            position += length;
            if (position == total) {
                received.complete(null);
            } else if (demand == Demand.INTERRUPTED && random.nextInt(8) == 0) {
                interrupt(context);
            }
        } catch (Throwable t) {
            fail(context, t);
        } finally {
            buffer.release();
        }
    }

    private void interrupt(ChannelHandlerContext context) {
        if (!context.channel().config().isAutoRead()) {
            return;
        }
        context.channel().config().setAutoRead(false);
        int micros = random.nextInt(4) == 0 ? random.nextInt(3000) : random.nextInt(100);
        Runnable resume = () -> context.channel().config().setAutoRead(true);
        if (random.nextBoolean()) {
            context.executor().schedule(resume, micros, TimeUnit.MICROSECONDS);
        } else {
            CompletableFuture.delayedExecutor(micros, TimeUnit.MICROSECONDS).execute(resume);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        readsOfTurn = 0;
        if (demand == Demand.MANUAL) {
            if (random.nextInt(4) == 0) {
                context.executor().schedule(context::read, random.nextInt(500), TimeUnit.MICROSECONDS);
            } else {
                context.read();
            }
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            inputShutdowns++;
        } else if (event == ChannelInputShutdownReadComplete.INSTANCE) {
            inputShutdownReads++;
            end();
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        end();
        context.fireChannelInactive();
    }

    private void end() {
        if (position != total) {
            ended.completeExceptionally(new AssertionError("the input ended after " + position + " of " + total
                    + " bytes"));
        } else if (inputShutdowns > 1 || inputShutdownReads > 1 || inputShutdowns != inputShutdownReads) {
            ended.completeExceptionally(new AssertionError("the end of the input was told " + inputShutdowns
                    + " times, and its being read " + inputShutdownReads + " times"));
        } else {
            ended.complete(null);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(context, cause);
    }

    private void fail(ChannelHandlerContext context, Throwable cause) {
        ended.completeExceptionally(cause);
        received.completeExceptionally(cause);
        context.close();
    }

    @Override
    public String toString() {
        return (ended.isDone() ? "ended, " : "") + "read " + position + " of " + total + " (" + demand + "), end told " + inputShutdowns + '+'
                + inputShutdownReads;
    }
}
