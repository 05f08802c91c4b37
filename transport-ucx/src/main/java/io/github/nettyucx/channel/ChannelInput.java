// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Allocation;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.worker.NativeBuffers;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.util.UncheckedBooleanSupplier;

import java.io.IOException;

/**
 * Carries what a lane has received up the pipeline, when the application asks for it.
 */
// RecvByteBufAllocator.Handle is deprecated for users, not for transports.
@SuppressWarnings("deprecation")
final class ChannelInput extends LaneWork implements Allocation {

    private enum State {
        /** Bytes are read. */
        OPEN,
        /** The application has been told that there will be no more. */
        SHUTDOWN,
        /** The application has been told that twice, as Netty's contract has it. */
        SHUTDOWN_CONFIRMED,
    }

    private final UncheckedBooleanSupplier readable;
    private State state = State.OPEN;
    private boolean readPending;
    private IOException failure;
    /** Of the read that is under way. */
    private RecvByteBufAllocator.Handle allocHandle;

    ChannelInput(UcxSocketChannel channel, Lane lane, ProgressEngine engine) {
        super(channel, lane, engine);
        readable = lane::isReadable;
    }

    // ------------------------------------------------------------------------------------------- demand

    void beginRead() {
        readPending = true;
        lane.wanted(true);
        if (hasNews()) {
            schedule();
        }
    }

    boolean isReadPending() {
        return readPending;
    }

    void cancelRead() {
        readPending = false;
        lane.wanted(false);
    }

    /** Something has arrived. */
    void arrived() {
        if (readPending || isLossNews() || isEndNews()) {
            schedule();
        }
    }

    /** The connection is lost; the application learns of it after the bytes that came before. */
    void failed(IOException cause) {
        failure = cause;
        schedule();
    }

    private boolean hasNews() {
        return lane.isReadable() || failure != null || isEndNews();
    }

    /**
     * Whether the application has to be told of the end of the input. It is told even if it does not read, as with
     * Netty's epoll transport: a paused application wants to know that its peer has gone.
     */
    private boolean isEndNews() {
        return lane.isAtEnd() && state != State.SHUTDOWN_CONFIRMED;
    }

    /** The application wants no more. */
    void shutdown() {
        if (state == State.OPEN) {
            state = State.SHUTDOWN;
            lane.discardInput();
            schedule();
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    @Override
    void advance() {
        if (!channel.isReading()) {
            return;
        }
        if (state == State.OPEN && lane.isReadable()) {
            if (readPending) {
                read();
                if (channel.isReading() && (readPending && hasNews() || isEndNews() || failure != null)) {
                    schedule();
                }
            } else if (failure != null) {
                // An application that reads again when its writes are done would wait for ever.
                channel.connection().failWaiting();
            }
        } else if (failure != null) {
            channel.connection().endedBy(failure);
        } else if (state != State.OPEN || lane.isAtEnd()) {
            end();
        }
    }

    /** Whether the application has to be told that the connection is lost: not before it has read what came before. */
    private boolean isLossNews() {
        return failure != null && !(state == State.OPEN && lane.isReadable());
    }

    private void read() {
        ChannelPipeline pipeline = channel.pipeline();
        RecvByteBufAllocator.Handle handle = newRead();
        allocHandle = handle;
        boolean any = false;
        ByteBuf buffer = null;
        try {
            do {
                int limit = Math.max(1, handle.guess());
                handle.attemptedBytesRead(limit);
                buffer = lane.read(limit, this);
                if (buffer == null) {
                    handle.lastBytesRead(0);
                    break;
                }
                any = true;
                handle.lastBytesRead(buffer.readableBytes());
                handle.incMessagesRead(1);
                readPending = false;
                ByteBuf read = buffer;
                buffer = null;
                pipeline.fireChannelRead(read);
            } while (state == State.OPEN && channel.isReading() && continueReading(handle));
            if (any) {
                handle.readComplete();
                pipeline.fireChannelReadComplete();
            }
        } catch (Throwable t) {
            if (buffer != null) {
                // It is the handle that has thrown: the stream goes on, and must not miss this.
                readPending = false;
                pipeline.fireChannelRead(buffer);
            }
            handle.readComplete();
            pipeline.fireChannelReadComplete();
            pipeline.fireExceptionCaught(t);
            if (t instanceof OutOfMemoryError || t instanceof IOException) {
                channel.unsafe().close(channel.voidPromise());
            }
        }
        lane.wanted(readPending);
        lane.settle();
    }

    /** What the application's allocator throws here ends the channel, and no other. */
    private RecvByteBufAllocator.Handle newRead() {
        RecvByteBufAllocator.Handle handle = channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        return handle;
    }

    private boolean continueReading(RecvByteBufAllocator.Handle handle) {
        // Not whether the last buffer was filled tells whether there is more, as on a socket: we know.
        return handle instanceof RecvByteBufAllocator.ExtendedHandle extended
                ? extended.continueReading(readable) : handle.continueReading() && readable.get();
    }

    /** Buffers for messages, where the application's allocator gives one that UCX can write into. */
    @Override
    public ByteBuf allocate(int length) {
        RecvByteBufAllocator.Handle handle = allocHandle;
        if (handle != null && length <= handle.guess()) {
            ByteBuf buffer = handle.allocate(channel.alloc());
            if (NativeBuffers.isUsable(buffer, length)) {
                return buffer;
            }
            buffer.release();
        }
        return NativeBuffers.allocate(channel.alloc(), length);
    }

    /** The peer's stream has ended, and all of it has been read. */
    private void end() {
        ChannelPipeline pipeline = channel.pipeline();
        readPending = false;
        if (state == State.OPEN) {
            RecvByteBufAllocator.Handle handle = newRead();
            handle.lastBytesRead(-1);
            handle.readComplete();
            pipeline.fireChannelReadComplete();
            if (!channel.isReading()) {
                return;
            }
            if (channel.config().isAllowHalfClosure() && !channel.connection().isBroken()) {
                state = State.SHUTDOWN;
                channel.halfClose.inputEnded();
                pipeline.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
                schedule();
            } else {
                channel.unsafe().close(channel.unsafe().voidPromise());
            }
        } else if (state == State.SHUTDOWN) {
            state = State.SHUTDOWN_CONFIRMED;
            pipeline.fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        }
    }
}
