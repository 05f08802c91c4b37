// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/**
 * The server's first frame: what it says of itself, and the lane that it chooses.
 *
 * @param hello of the server
 * @param lane chosen
 * @param link number of the server's half of a link that both may have; 0: none
 */
record Answer(Hello hello, LaneKind lane, long link) {

    /** Of the frame, in bytes. */
    static final int LENGTH = 304;
    /** Of what the proofs cover. */
    static final int COVERED = LENGTH - Proofs.LENGTH;

    /** Writes what comes before the proof. */
    void encode(ByteBuf out) {
        hello.encode(out, LENGTH);
        out.writeByte(lane.number()).writeZero(7).writeLong(link);
    }

    /** Reads what comes before the proof. */
    static Answer decode(ByteBuf in) throws HandshakeException {
        Hello hello = Hello.decode(in, Side.SERVER);
        int number = in.readUnsignedByte();
        LaneKind lane = LaneKind.ofNumber(number);
        if (lane == null) {
            throw violation("the server chose lane " + number + ", which does not exist");
        }
        in.skipBytes(7);
        return new Answer(hello, lane, in.readLong());
    }
}
