// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.NativeBuffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.StringUtil;

import java.util.List;

/** Of a connection: what carries it, and how its two directions are ended one by one. */
abstract class AbstractUcxStreamChannel extends AbstractUcxChannel implements SocketChannel {

    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", "
            + StringUtil.simpleClassName(FileRegion.class) + ')';

    // Written by the event loop's thread.
    volatile String laneName = "none";
    volatile List<String> transports = List.of();

    final HalfClose halfClose = new HalfClose(this);

    AbstractUcxStreamChannel(Channel parent) {
        super(parent);
    }

    // ------------------------------------------------------------------------------------------- what it tells

    @Override
    public ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    /**
     * What carries the data: UCX's name of the transport, such as {@code rc_mlx5}, {@code sysv}, {@code posix} or
     * {@code tcp}, or {@code socket} for the kernel's socket; {@code none} as long as there is no connection. An accepted
     * channel that turns out to have none is active for a moment, and keeps that.
     */
    public String lane() {
        return laneName;
    }

    /**
     * All transports that serve the connection, each with its device, such as {@code sysv/memory} and {@code tcp/eth0},
     * or {@code socket}. None as long as there is no connection.
     */
    public List<String> transports() {
        return transports;
    }

    // ------------------------------------------------------------------------------------------- writing

    @Override
    protected Object filterOutboundMessage(Object message) throws ChannelOutputShutdownException {
        if (message instanceof ByteBuf || message instanceof FileRegion) {
            if (halfClose.isOutputEnding()) {
                throw new ChannelOutputShutdownException("Channel output shutdown");
            }
            if (message instanceof ByteBuf buffer) {
                if (buffer.refCnt() == 0) {
                    // Its own write fails, and not the flush, which would end the output.
                    throw new IllegalReferenceCountException(0);
                }
                return buffer.isDirect() || buffer.hasMemoryAddress() ? buffer : directCopy(buffer);
            }
            return message;
        }
        throw new UnsupportedOperationException(
                "unsupported message type: " + StringUtil.simpleClassName(message) + EXPECTED_TYPES);
    }

    /**
     * Of a buffer on the heap, now and not when it is sent, as Netty's own transports do it: there are applications that wrap an
     * array of theirs, and use the array again when {@code write} has returned.
     */
    private ByteBuf directCopy(ByteBuf heap) {
        ByteBuf copy = heap.isReadable() ? NativeBuffers.copy(alloc(), heap) : Unpooled.EMPTY_BUFFER;
        ReferenceCountUtil.safeRelease(heap);
        return copy;
    }

    // ------------------------------------------------------------------------------------------- half-close

    /** Whether a server has accepted it, and it has been neither active nor closed so far. */
    abstract boolean isBeingAccepted();

    /** Whether anything may be fired up the pipeline. */
    abstract boolean isReading();

    /** Whether all that was flushed has been sent, and it is known whether there is still somebody to be told. */
    abstract boolean canEndOutput();

    abstract boolean isUnconnected();

    void endOutputNow(ChannelPromise promise) {
        ((AbstractUnsafe) unsafe()).shutdownOutput(promise);
    }

    abstract void endInputNow();

    @Override
    public boolean isInputShutdown() {
        return halfClose.isInputEnded();
    }

    @Override
    public boolean isOutputShutdown() {
        return halfClose.isOutputEnded();
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        halfClose.endOutput(promise);
        return promise;
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        halfClose.endInput(promise);
        return promise;
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        halfClose.endBoth(promise);
        return promise;
    }
}
