// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Written;
import io.github.nettyucx.socket.DatagramPort;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.NativeBuffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultAddressedEnvelope;
import io.netty.channel.socket.DatagramPacket;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.StringUtil;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;

/**
 * Sends what a datagram channel has been given to write, one datagram after the other: the kernel copies each, so that
 * nothing is in flight when a write returns. What cannot be sent fails alone.
 */
final class DatagramOutput {

    private enum State {
        /** The socket takes datagrams, as far as is known. */
        OPEN,
        /** It had no room for the last one. */
        FULL
    }

    private static final String EXPECTED_TYPES =
            " (expected: DatagramPacket, AddressedEnvelope<ByteBuf, InetSocketAddress>, ByteBuf)";

    private State state = State.OPEN;
    /** The message of which a part has been sent, and how much: it is several datagrams, and there was no room for all. */
    private Object begun;
    private int sent;

    // ------------------------------------------------------------------------------------------- what can be written

    /**
     * The message as it can be sent, with its bytes in one piece of native memory; they are copied there if need be,
     * and the original is released.
     *
     * @throws UnresolvedAddressException    if it goes to a name
     * @throws UnsupportedOperationException if it is no datagram
     */
    static Object checked(Object message, ByteBufAllocator allocator) {
        if (message instanceof ByteBuf buffer) {
            return BufferAddress.isContiguous(buffer) ? buffer : copied(buffer, buffer, allocator);
        }
        if (message instanceof AddressedEnvelope<?, ?> envelope && envelope.content() instanceof ByteBuf buffer
                && (envelope.recipient() == null || envelope.recipient() instanceof InetSocketAddress)) {
            InetSocketAddress recipient = (InetSocketAddress) envelope.recipient();
            if (recipient != null && recipient.isUnresolved()) {
                throw new UnresolvedAddressException();
            }
            if (BufferAddress.isContiguous(buffer)) {
                return message;
            }
            ByteBuf copy = copied(buffer, message, allocator);
            if (Segments.size(message) > 0) {
                return ((DatagramPacket) message).replace(copy);
            }
            return recipient == null ? copy : message instanceof DatagramPacket ? new DatagramPacket(copy, recipient)
                    : new DefaultAddressedEnvelope<>(copy, recipient);
        }
        throw new UnsupportedOperationException(
                "unsupported message type: " + StringUtil.simpleClassName(message) + EXPECTED_TYPES);
    }

    private static ByteBuf copied(ByteBuf buffer, Object owner, ByteBufAllocator allocator) {
        ByteBuf copy = NativeBuffers.copy(allocator, buffer);
        ReferenceCountUtil.safeRelease(owner);
        return copy;
    }

    // ------------------------------------------------------------------------------------------- sending

    /** There may be room in the socket again. */
    void roomHasCome() {
        state = State.OPEN;
    }

    /**
     * Sends the flushed messages.
     *
     * @param connected whether the socket has a peer
     * @param limit     the most datagrams to be sent now
     */
    Written write(ChannelOutboundBuffer in, DatagramPort port, boolean connected, int limit) {
        for (int left = limit; ; left--) {
            // Again each time: whoever is told of a promise may write, or close the channel, which empties the buffer.
            Object message = in.current();
            if (message == null) {
                return Written.DRAINED;
            }
            if (state == State.FULL) {
                return Written.WAITING;
            }
            if (left == 0) {
                return Written.AGAIN;
            }
            send(message, in, port, connected);
        }
    }

    private void send(Object message, ChannelOutboundBuffer in, DatagramPort port, boolean connected) {
        ByteBuf content;
        InetSocketAddress recipient = null;
        int segment = 0;
        if (message instanceof ByteBuf buffer) {
            if (!buffer.isReadable()) {
                // Also what Netty leaves of a write that was cancelled. There is an empty datagram: an empty packet.
                in.remove();
                return;
            }
            content = buffer;
        } else {
            AddressedEnvelope<?, ?> envelope = (AddressedEnvelope<?, ?>) message;
            content = (ByteBuf) envelope.content();
            recipient = (InetSocketAddress) envelope.recipient();
            segment = Segments.size(message);
        }
        if (recipient == null && !connected) {
            failed(in, new NotYetConnectedException());
            return;
        }
        if (begun != message) {
            // Netty can have failed the one before.
            begun = null;
            sent = 0;
        }
        int left = content.readableBytes() - sent;
        int length = segment == 0 ? left : Math.min(segment, left);
        int result;
        try {
            result = port.sendTo(BufferAddress.of(content, content.readerIndex() + sent, length), length, recipient);
        } catch (RuntimeException e) {
            // Such as of a buffer that has been released once too often. Netty would close the socket.
            failed(in, e);
            return;
        }
        if (result == -Errno.EAGAIN) {
            state = State.FULL;
        } else if (result < 0) {
            failed(in, exception("sendto", -result));
        } else if (length < left) {
            begun = message;
            sent += length;
        } else {
            begun = null;
            in.remove();
        }
    }

    /** What is left of it is not sent. */
    private void failed(ChannelOutboundBuffer in, Exception cause) {
        begun = null;
        in.remove(cause);
    }

    /**
     * As an application knows it of datagrams: that nobody listens at the peer's port is no failed connect, and that somebody on
     * the way did not like a packet's parameters, by ICMP, no peer that breaks a protocol.
     */
    static IOException exception(String call, int errno) {
        return switch (errno) {
            case Errno.ECONNREFUSED -> new PortUnreachableException(Errno.text(errno));
            case Errno.EPROTO -> new SocketException(Errno.text(errno));
            default -> Errno.exception(call, errno);
        };
    }
}
