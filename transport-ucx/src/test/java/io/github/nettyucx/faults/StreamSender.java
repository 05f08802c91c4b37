// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.SeededBytes;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;

import java.util.SplittableRandom;

/** Writes a long stream as an application should: as long as the channel is writable. */
final class StreamSender extends ChannelInboundHandlerAdapter {

    static final long SEED = 815;

    private static final int BURST = 16;

    private final long total;
    private final int maxPiece;
    private final SplittableRandom random;
    private final SeededBytes bytes = new SeededBytes(SEED);
    private ChannelHandlerContext context;
    private boolean writing;
    // The loop's to write.
    private volatile long written;
    private volatile long completed;
    private volatile Throwable failedWrite;
    private volatile Throwable exception;

    /** @param maxPiece the most bytes of one write */
    StreamSender(long total, int maxPiece, SplittableRandom random) {
        this.total = total;
        this.maxPiece = maxPiece;
        this.random = random;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /** From any thread. */
    void start() {
        context.executor().execute(this::writeOn);
    }

    private void writeOn() {
        if (writing) {
            return;
        }
        writing = true;
        for (int i = 0; i < BURST && written < total && context.channel().isWritable(); i++) {
            int length = (int) Math.min(total - written, random.nextInt(maxPiece / 2, maxPiece) + 1);
            ByteBuf piece = context.alloc().directBuffer(length).writeBytes(bytes.at(written, length));
            written += length;
            context.write(piece).addListener(future -> completed(future, length));
        }
        context.flush();
        writing = false;
        if (written < total && context.channel().isActive() && context.channel().isWritable()) {
            context.executor().execute(this::writeOn);
        }
    }

    private void completed(Future<?> future, int length) {
        if (future.isSuccess()) {
            completed += length;
        } else if (failedWrite == null) {
            failedWrite = future.cause();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext changed) {
        if (changed.channel().isWritable() && written > 0) {
            writeOn();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
        exception = cause;
    }

    long total() {
        return total;
    }

    long written() {
        return written;
    }

    /** Bytes whose promises have succeeded. */
    long completed() {
        return completed;
    }

    Throwable failedWrite() {
        return failedWrite;
    }

    Throwable exception() {
        return exception;
    }

    /**
     * Waits until they have written something, and for a while nothing more has been written or completed.
     *
     * @return how much has been: a number that grows with each movement
     */
    static long awaitStandstill(Iterable<StreamSender> senders) throws InterruptedException {
        long before = 0;
        for (long now = moved(senders); now == 0 || now != before; now = moved(senders)) {
            before = now;
            // That nothing moves cannot be waited for, only looked for after a while.
            Thread.sleep(500);
        }
        return before;
    }

    private static long moved(Iterable<StreamSender> senders) {
        long sum = 0;
        for (StreamSender sender : senders) {
            sum += sender.written() + sender.completed();
        }
        return sum;
    }

    static long sum(Iterable<StreamSender> senders) {
        long sum = 0;
        for (StreamSender sender : senders) {
            sum += sender.completed();
        }
        return sum;
    }
}
