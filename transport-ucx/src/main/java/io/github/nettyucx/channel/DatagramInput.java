// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.DatagramPort;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.NativeBuffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.DatagramPacket;
import io.netty.util.UncheckedBooleanSupplier;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;

/** Carries what a datagram socket has received up the pipeline, when the application asks for it. */
// RecvByteBufAllocator.Handle is deprecated for users, not for transports.
@SuppressWarnings("deprecation")
final class DatagramInput {

    private enum State {
        /** The socket has nothing, until it says so. */
        EMPTY,
        /** The socket may have something. */
        READABLE
    }

    /** What has become of a read. */
    enum Result {
        /** Packets have gone up the pipeline. */
        PACKETS,
        /** There was none to be had. */
        NOTHING,
        /** The application's allocator has thrown before the read began, and may do so again at once. */
        REFUSED
    }

    private final UcxDatagramChannel channel;
    private State state = State.EMPTY;
    private boolean readPending;
    /**
     * The peer that the socket has been connected to while datagrams of others may already have come; {@code null} if
     * there can be none.
     */
    private InetSocketAddress onlyFrom;

    DatagramInput(UcxDatagramChannel channel) {
        this.channel = channel;
    }

    void beginRead() {
        readPending = true;
    }

    boolean isReadPending() {
        return readPending;
    }

    void cancelRead() {
        readPending = false;
    }

    /** Something has come, or an error is to be reported. */
    void arrived() {
        state = State.READABLE;
    }

    /** From now on only datagrams of the peer go up; the kernel keeps what it has taken in before. */
    void connected(InetSocketAddress peer) {
        onlyFrom = peer;
    }

    void disconnected() {
        onlyFrom = null;
    }

    /** Whether {@link #read} has something to do. */
    boolean isDue() {
        return readPending && state == State.READABLE;
    }

    /** Reads as much as the channel's allocator says. */
    Result read(DatagramPort port) {
        ChannelPipeline pipeline = channel.pipeline();
        RecvByteBufAllocator.Handle handle;
        try {
            handle = channel.unsafe().recvBufAllocHandle();
            handle.reset(channel.config());
        } catch (Throwable t) {
            // The datagram waits for the next read.
            pipeline.fireExceptionCaught(t);
            return Result.REFUSED;
        }
        Throwable failure = null;
        boolean any = false;
        try {
            do {
                DatagramPacket packet = next(port, handle);
                if (packet == null) {
                    break;
                }
                any = true;
                readPending = false;
                pipeline.fireChannelRead(packet);
            } while (channel.isOpen() && continueReading(handle));
        } catch (Throwable t) {
            failure = t;
        }
        if (any) {
            handle.readComplete();
            pipeline.fireChannelReadComplete();
        }
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
            if (!(failure instanceof SocketException)) {
                // It is not the network that is to blame: neither the socket nor an allocator without buffers recovers.
                channel.unsafe().close(channel.unsafe().voidPromise());
            }
        }
        return any ? Result.PACKETS : Result.NOTHING;
    }

    private DatagramPacket next(DatagramPort port, RecvByteBufAllocator.Handle handle) throws IOException {
        ByteBuf buffer = allocate(handle);
        DatagramPacket packet = null;
        try {
            int room = buffer.writableBytes();
            handle.attemptedBytesRead(room);
            int received = receive(port, BufferAddress.of(buffer, buffer.writerIndex(), room), room);
            if (received == -Errno.EAGAIN) {
                state = State.EMPTY;
                onlyFrom = null;
            } else if (received < 0) {
                throw DatagramOutput.exception("recvfrom", -received);
            } else {
                handle.lastBytesRead(received);
                handle.incMessagesRead(1);
                buffer.writerIndex(buffer.writerIndex() + received);
                packet = new DatagramPacket(buffer, channel.localAddress(), port.lastSender());
            }
            return packet;
        } finally {
            if (packet == null) {
                buffer.release();
            }
        }
    }

    private int receive(DatagramPort port, long address, int room) {
        int received;
        do {
            received = port.receiveFrom(address, room);
        } while (received >= 0 && onlyFrom != null && !onlyFrom.equals(port.lastSender()));
        return received;
    }

    private ByteBuf allocate(RecvByteBufAllocator.Handle handle) {
        ByteBuf buffer = handle.allocate(channel.alloc());
        if (BufferAddress.isContiguous(buffer)) {
            return buffer;
        }
        int size = buffer.writableBytes();
        buffer.release();
        return NativeBuffers.allocate(channel.alloc(), size);
    }

    /** A datagram that has not filled its buffer says nothing about whether there is another one. */
    private static boolean continueReading(RecvByteBufAllocator.Handle handle) {
        return handle instanceof RecvByteBufAllocator.ExtendedHandle extended
                ? extended.continueReading(UncheckedBooleanSupplier.TRUE_SUPPLIER) : handle.continueReading();
    }
}
