// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/**
 * The server's answer to OFFER.
 *
 * @param status what became of it
 * @param server {@link Status#OK}: number of the server's half; otherwise 0
 * @param address {@link Status#OK} and a new link: the server's worker address; otherwise null
 * @param text {@link Status#FAILED}: why; otherwise null
 */
record Half(Status status, long server, byte[] address, String text) {

    enum Status {
        /** The server has its half. */
        OK,
        /** The server does not have that link any more. */
        STALE,
        /** The server could not make its half. */
        FAILED;

        int number() {
            return ordinal() + 1;
        }
    }

    private static final Status[] STATUSES = Status.values();

    static Half ok(long server, byte[] address) {
        return new Half(Status.OK, server, address, null);
    }

    static Half stale() {
        return new Half(Status.STALE, 0, null, null);
    }

    static Half failed(String text) {
        return new Half(Status.FAILED, 0, null, text);
    }

    ByteBuf encode() {
        byte[] rest = text != null ? PeerText.encode(text) : address != null ? address : new byte[0];
        return FrameType.HALF.begin(rest.length).writeByte(status.number()).writeZero(3).writeLong(server)
                .writeBytes(rest);
    }

    /** @param offer what it answers */
    static Half decode(ByteBuf frame, Offer offer) throws HandshakeException {
        int length = frame.writerIndex();
        int number = frame.readUnsignedByte();
        frame.skipBytes(3);
        long server = frame.readLong();
        if (number < 1 || number > STATUSES.length) {
            throw violation("the server's HALF has status " + number + "; expected 1 to " + STATUSES.length);
        }
        Status status = STATUSES[number - 1];
        if (status == (offer.isNew() ? Status.STALE : Status.FAILED)) {
            throw violation("the server's HALF has status " + status + " for "
                    + (offer.isNew() ? "a new link" : "a link that exists"));
        }
        if (status == Status.OK && (offer.isNew() ? server == 0 : server != offer.server())) {
            throw violation("the server's HALF has a link number that was not offered, or 0");
        }
        int fixed = FrameType.HALF.fixedLength();
        if (status == Status.FAILED) {
            if (length > fixed + PeerText.MAX_BYTES) {
                throw FrameType.wrongLength(Side.SERVER, "HALF with a text", length, fixed, fixed + PeerText.MAX_BYTES);
            }
            return failed(PeerText.read(frame));
        }
        if (status == Status.STALE || !offer.isNew()) {
            if (frame.isReadable()) {
                throw FrameType.wrongLength(Side.SERVER, "HALF without an address", length, fixed, fixed);
            }
            return status == Status.STALE ? stale() : ok(server, null);
        }
        if (!frame.isReadable()) {
            throw FrameType.wrongLength(Side.SERVER, "HALF of a new link", length, fixed + 1,
                    FrameType.HALF.maxLength());
        }
        byte[] address = new byte[frame.readableBytes()];
        frame.readBytes(address);
        return ok(server, address);
    }
}
