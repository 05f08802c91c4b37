// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/**
 * The client's last frame.
 *
 * @param proof the client's
 * @param lane that is taken: the one that was chosen, another that was agreed on behind it, or the socket
 * @param client number of the client's half of the link; on the socket 0
 * @param server number of the server's half of the link; on the socket 0
 * @param reason why not the lane that was chosen; of that one empty
 */
record Go(byte[] proof, LaneKind lane, long client, long server, String reason) {

    ByteBuf encode() {
        byte[] text = PeerText.encode(reason);
        return FrameType.GO.begin(text.length).writeBytes(proof).writeByte(lane.number()).writeZero(3)
                .writeLong(client).writeLong(server).writeBytes(text);
    }

    /** @param chosen the lane that was */
    static Go decode(ByteBuf frame, LaneKind chosen) throws HandshakeException {
        int length = frame.writerIndex();
        byte[] proof = new byte[Proofs.LENGTH];
        frame.readBytes(proof);
        int number = frame.readUnsignedByte();
        frame.skipBytes(3);
        long client = frame.readLong();
        long server = frame.readLong();
        LaneKind lane = LaneKind.ofNumber(number);
        if (lane == null) {
            throw violation("the client's GO has lane " + number + ", which does not exist");
        }
        int fixed = FrameType.GO.fixedLength();
        if (lane == chosen && frame.isReadable()) {
            throw FrameType.wrongLength(Side.CLIENT, "GO with the chosen lane", length, fixed, fixed);
        }
        if (lane == LaneKind.SOCKET && (client != 0 || server != 0)) {
            throw violation("the client's GO has lane socket and names a link");
        }
        return new Go(proof, lane, client, server, PeerText.read(frame));
    }
}
