// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.Set;
import java.util.stream.Collectors;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/** What can follow the first frame of a side, and how long it can be. */
enum FrameType {
    OFFER(1, 56, FrameType.MAX_ADDRESS),
    HALF(2, 16, FrameType.MAX_ADDRESS),
    GO(3, 56, PeerText.MAX_BYTES),
    REFUSE(4, 8, PeerText.MAX_BYTES);

    /** Most bytes of a worker address. */
    static final int MAX_ADDRESS = 8 * 1024;
    /** Type, zero, length. */
    static final int HEADER_LENGTH = 4;

    private static final FrameType[] TYPES = values();

    private final int number;
    private final int fixed;
    private final int variable;

    FrameType(int number, int fixed, int variable) {
        this.number = number;
        this.fixed = fixed;
        this.variable = variable;
    }

    int number() {
        return number;
    }

    /** Bytes of the frame without the address or text at its end. */
    int fixedLength() {
        return fixed;
    }

    int maxLength() {
        return fixed + variable;
    }

    /** Whether the next frame is of this type, as far as can be seen. Reads nothing. */
    boolean isNext(ByteBuf in) {
        return in.isReadable() && in.getUnsignedByte(in.readerIndex()) == number;
    }

    /** A buffer for a frame with its header in it, and room for no more than the frame. */
    ByteBuf begin(int variableLength) {
        int length = fixed + variableLength;
        return Unpooled.directBuffer(length, length).writeByte(number).writeByte(0).writeShort(length);
    }

    /**
     * Looks at the header of the next frame, as far as it has come, and reads nothing.
     *
     * @return the type, or null if the frame is not all there
     */
    static FrameType next(ByteBuf in, Side peer, Set<FrameType> allowed) throws HandshakeException {
        if (!in.isReadable()) {
            return null;
        }
        int number = in.getUnsignedByte(in.readerIndex());
        FrameType type = ofNumber(number);
        if (type == null || !allowed.contains(type)) {
            throw violation(peer + " sent " + (type != null ? type : "a frame of type " + number) + "; expected "
                    + allowed.stream().map(FrameType::name).collect(Collectors.joining(" or ")));
        }
        if (in.readableBytes() < HEADER_LENGTH) {
            return null;
        }
        int length = length(in);
        if (length < type.fixed || length > type.maxLength()) {
            throw wrongLength(peer, type.name(), length, type.fixed, type.maxLength());
        }
        return in.readableBytes() < length ? null : type;
    }

    static HandshakeException wrongLength(Side peer, String name, int length, int least, int most) {
        return violation(peer + "'s " + name + " has " + length + " bytes; expected " + least
                + (least == most ? "" : " to " + most));
    }

    /** The whole frame, of which {@link #next} has looked at the header; it is read then. */
    static ByteBuf read(ByteBuf in) {
        return in.readSlice(length(in)).skipBytes(HEADER_LENGTH);
    }

    private static int length(ByteBuf in) {
        return in.getUnsignedShort(in.readerIndex() + 2);
    }

    private static FrameType ofNumber(int number) {
        return number >= 1 && number <= TYPES.length ? TYPES[number - 1] : null;
    }
}
