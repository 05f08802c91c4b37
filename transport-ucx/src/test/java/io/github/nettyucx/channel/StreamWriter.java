// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.ArrayRegion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCounted;

import java.nio.ReadOnlyBufferException;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Writes the first bytes of a {@link SeededBytes} stream in random pieces, as random buffers, with flushes at random
 * places. Overwrites what a promise has given back, so that an early one shows as wrong bytes at the receiver.
 */
final class StreamWriter {

    /** Where the transport, or UCX, begins to do something else with a buffer. */
    private static final int[] TURNING_POINTS = {
        8 * 1024, 64 * 1024, 256 * 1024, 1024 * 1024
    };

    private final Channel channel;
    private final Executor executor;
    private final long total;
    private final long limit;
    private final SplittableRandom random;
    private final SeededBytes stream;
    private final SeededBuffers buffers;
    private final int maxPiece;
    private final double flushProbability;
    private final CompletableFuture<Void> submitted = new CompletableFuture<>();
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    // The executor's.
    private long written;
    private long outstanding;
    private long writes;
    private long settled;
    private boolean running = true;
    private boolean unflushed;

    /** The event loop's. */
    private long completed;

    /**
     * @param executor on which it writes: the channel's event loop, or another single thread
     * @param total    bytes to write
     * @param limit    the most bytes that are to be on their way at a time
     */
    StreamWriter(Channel channel, Executor executor, long streamSeed, long total, long limit, SplittableRandom random) {
        this.channel = channel;
        this.executor = executor;
        this.total = total;
        this.limit = limit;
        this.random = random;
        stream = new SeededBytes(streamSeed);
        buffers = new SeededBuffers(random, channel.alloc());
        maxPiece = 1 << random.nextInt(4, 22);
        flushProbability = random.nextInt(4) == 0 ? 1 : random.nextDouble();
    }

    void start() {
        executor.execute(this::proceed);
    }

    /** Completes when the last byte has been written and flushed, on the executor. */
    CompletableFuture<Void> submitted() {
        return submitted;
    }

    /** Completes when all promises have, and fails with the first that fails or comes out of order. */
    CompletableFuture<Void> done() {
        return done;
    }

    private void proceed() {
        try {
            for (int burst = random.nextInt(1, 32); burst > 0 && written < total && outstanding < limit; burst--) {
                write();
            }
            if (written == total) {
                channel.flush();
                if (writes == 0) {
                    done.complete(null);
                }
                running = false;
                submitted.complete(null);
            } else if (outstanding < limit) {
                // Others have their turn.
                executor.execute(this::proceed);
            } else {
                flushAll();
                running = false;
            }
        } catch (Throwable t) {
            fail(t);
        }
    }

    private void write() {
        int length = pieceLength();
        byte[] bytes = stream.at(written, length);
        ReferenceCounted message = random.nextInt(32) == 0
                ? new ArrayRegion(bytes, random.nextInt(1, length + 2)) : buffers.of(bytes);
        written += length;
        outstanding += length;
        ChannelPromise promise = channel.newPromise();
        long number = writes++;
        promise.addListener((ChannelFuture future) -> completed(future, number, length, message));
        // Looked at again when the transport has released it.
        message.retain();
        unflushed = true;
        if (random.nextDouble() >= flushProbability) {
            channel.write(message, promise);
        } else if (random.nextBoolean()) {
            channel.writeAndFlush(message, promise);
            unflushed = false;
        } else {
            channel.write(message, promise);
            flushAll();
        }
        if (random.nextInt(16) == 0) {
            // Neither a flush of nothing nor an empty buffer may disturb anything.
            channel.flush();
            channel.write(Unpooled.EMPTY_BUFFER);
        }
    }

    private void flushAll() {
        if (unflushed) {
            channel.flush();
            unflushed = false;
        }
    }

    private int pieceLength() {
        int length = switch (random.nextInt(16)) {
            case 0 -> 0;
            case 1, 2 -> TURNING_POINTS[random.nextInt(TURNING_POINTS.length)] + random.nextInt(-1, 2);
            case 3, 4, 5 -> random.nextInt(1, 64);
            default -> random.nextInt(1, maxPiece + 1);
        };
        return (int) Math.min(length, total - written);
    }

    private void completed(ChannelFuture future, long number, int length, ReferenceCounted message) {
        try {
            if (!future.isSuccess()) {
                throw new AssertionError("write " + number + " failed", future.cause());
            }
            if (number != completed++) {
                throw new AssertionError("the promise of write " + number + " was number " + (completed - 1));
            }
            int references = message.refCnt();
            if (references != 1) {
                throw new AssertionError("after write " + number + " this has " + references + " references: "
                        + message);
            }
            if (message instanceof ByteBuf buffer) {
                overwrite(buffer);
            }
            message.release();
            executor.execute(() -> settled(length));
        } catch (Throwable t) {
            fail(t);
        }
    }

    private static void overwrite(ByteBuf buffer) {
        try {
            buffer.setZero(0, buffer.capacity());
        } catch (ReadOnlyBufferException e) {
            // It is read-only, or a part of it is.
        }
    }

    private void settled(int length) {
        outstanding -= length;
        if (!running && written < total && outstanding < limit) {
            running = true;
            proceed();
        }
        settled++;
        if (written == total && settled == writes) {
            done.complete(null);
        }
    }

    private void fail(Throwable cause) {
        done.completeExceptionally(cause);
        submitted.completeExceptionally(cause);
    }

    @Override
    public String toString() {
        return (done.isDone() ? "done, " : "") + "written " + written + " of " + total + ", " + completed + " of " + writes + " writes done";
    }
}
