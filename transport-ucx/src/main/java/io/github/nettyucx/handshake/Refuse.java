// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

/**
 * Ends the handshake, from either side. It looks the same in all versions of the protocol.
 *
 * @param version of the protocol that the sender speaks
 * @param reason why
 * @param text the same for people
 */
record Refuse(int version, HandshakeFailure reason, String text) {

    ByteBuf encode() {
        byte[] bytes = PeerText.encode(text);
        return FrameType.REFUSE.begin(bytes.length).writeShort(version).writeByte(reason.code()).writeByte(0)
                .writeBytes(bytes);
    }

    static Refuse decode(ByteBuf frame) {
        int version = frame.readUnsignedShort();
        HandshakeFailure reason = HandshakeFailure.ofCode(frame.readUnsignedByte());
        frame.skipBytes(1);
        return new Refuse(version, reason, PeerText.read(frame));
    }

    /** What it is for the side that it was sent to. */
    HandshakeException toException(Side sender) {
        String why = reason == HandshakeFailure.OTHER_PROTOCOL_VERSION && version != Hello.VERSION
                ? Hello.otherVersion(sender, version)
                : text;
        return HandshakeException.ofPeer(reason, sender + " refused the connection: " + why);
    }
}
