// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/**
 * The client's frame for a link that ANSWER did not name.
 *
 * @param proof the client's
 * @param lane of the link: the one that was chosen, or another if that cannot be had
 * @param client number of the client's half
 * @param server of a link that was made meanwhile: number of the server's half; of a new one: 0
 * @param address of a new link: the client's worker address; otherwise null
 */
record Offer(byte[] proof, LaneKind lane, long client, long server, byte[] address) {

    private static final int NEW = 1;
    private static final int REUSE = 2;

    boolean isNew() {
        return address != null;
    }

    ByteBuf encode() {
        ByteBuf out = FrameType.OFFER.begin(isNew() ? address.length : 0);
        out.writeBytes(proof).writeByte(isNew() ? NEW : REUSE).writeByte(lane.number()).writeZero(2).writeLong(client)
                .writeLong(server);
        return isNew() ? out.writeBytes(address) : out;
    }

    static Offer decode(ByteBuf frame) throws HandshakeException {
        int length = frame.writerIndex();
        byte[] proof = new byte[Proofs.LENGTH];
        frame.readBytes(proof);
        int kind = frame.readUnsignedByte();
        int laneNumber = frame.readUnsignedByte();
        frame.skipBytes(2);
        long client = frame.readLong();
        long server = frame.readLong();
        LaneKind lane = LaneKind.ofNumber(laneNumber);
        if (lane == null || lane == LaneKind.SOCKET) {
            throw violation("the client's OFFER is of lane " + laneNumber + ", which has no links");
        }
        if (client == 0) {
            throw violation("the client offers a link with number 0");
        }
        int fixed = FrameType.OFFER.fixedLength();
        switch (kind) {
            case NEW -> {
                if (!frame.isReadable()) {
                    throw FrameType.wrongLength(Side.CLIENT, "OFFER of a new link", length, fixed + 1,
                            FrameType.OFFER.maxLength());
                }
                byte[] address = new byte[frame.readableBytes()];
                frame.readBytes(address);
                return new Offer(proof, lane, client, 0, address);
            }
            case REUSE -> {
                if (frame.isReadable()) {
                    throw FrameType.wrongLength(Side.CLIENT, "OFFER of a link that exists", length, fixed, fixed);
                }
                return new Offer(proof, lane, client, server, null);
            }
            default -> throw violation("the client's OFFER is of kind " + kind + "; expected " + NEW + " or " + REUSE);
        }
    }
}
