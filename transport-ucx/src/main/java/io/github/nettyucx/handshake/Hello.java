// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/**
 * What a side says of itself first: the client with HELLO, the server as the beginning of ANSWER. Nothing in it is
 * proved but by the proofs of ANSWER, OFFER and GO, and only where there is a secret.
 *
 * @param ucxVersion {@code major << 24 | minor << 16 | release}; 0 without UCX
 * @param party the event loop that speaks
 * @param lanes the {@linkplain LaneKind#bit bits} of the lanes that it offers; may have bits that are unknown here
 * @param secret whether it has a shared secret
 * @param translatedAddresses whether it allows lanes of UCX across translated addresses
 * @param channelId what the peer puts into the tags of messages to it; not 0
 * @param window credit that the peer starts with, in bytes
 * @param maxMessage the most bytes that one message to it may have
 * @param nonce 32 random bytes; not to be changed
 * @param local its own address of the control socket, as it sees it; null if it does not know
 * @param remote the other side's address of the control socket, as it sees it; null if it does not know
 */
public record Hello(int ucxVersion, Party party, int lanes, boolean secret, boolean translatedAddresses, int channelId,
        int window, int maxMessage, byte[] nonce, InetSocketAddress local, InetSocketAddress remote) {

    /** Version of the protocol. */
    public static final int VERSION = 2;
    /** Least window, in bytes. */
    public static final int MIN_WINDOW = 4 * 1024;
    /** Largest window, in bytes. */
    public static final int MAX_WINDOW = 128 * 1024 * 1024;

    /** The eight bytes that every first frame begins with, "NettyUCX". */
    static final long MAGIC = 0x4e65747479554358L;
    static final int MAGIC_LENGTH = 8;
    /** Magic number, version, length: the same in all versions. */
    static final int PREFIX_LENGTH = 12;
    /** Of HELLO, in bytes. */
    static final int LENGTH = 256;
    static final int NONCE_LENGTH = 32;

    private static final int HAS_SECRET = 1;
    private static final int ALLOWS_TRANSLATED_ADDRESSES = 2;
    private static final int ADDRESS_LENGTH = 16;
    private static final int RESERVED = 108;
    /** Most bytes of another program that are shown. */
    private static final int SHOWN = 16;

    /** Whether it begins as a HELLO or ANSWER does, as far as it goes. Reads nothing. */
    static boolean hasMagic(ByteBuf in) {
        int known = Math.min(in.readableBytes(), MAGIC_LENGTH);
        for (int i = 0; i < known; i++) {
            if (in.getByte(in.readerIndex() + i) != (byte) (MAGIC >>> 56 - 8 * i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Looks at the first frame of a peer, as far as it has come, and reads nothing.
     *
     * @param name of the frame
     * @param length what the frame has to have, in bytes
     * @return whether it is all there
     */
    static boolean isWhole(ByteBuf in, Side peer, String name, int length) throws HandshakeException {
        if (!hasMagic(in)) {
            throw otherProgram(in, peer);
        }
        if (in.readableBytes() < PREFIX_LENGTH) {
            return false;
        }
        int version = in.getUnsignedShort(in.readerIndex() + MAGIC_LENGTH);
        if (version != VERSION) {
            throw new HandshakeException(HandshakeFailure.OTHER_PROTOCOL_VERSION, otherVersion(peer, version));
        }
        int said = in.getUnsignedShort(in.readerIndex() + MAGIC_LENGTH + 2);
        if (said != length) {
            throw violation(peer + "'s " + name + " has " + said + " bytes; expected " + length);
        }
        return in.readableBytes() >= length;
    }

    static HandshakeException otherProgram(ByteBuf in, Side peer) {
        String first = in.toString(in.readerIndex(), Math.min(in.readableBytes(), SHOWN), StandardCharsets.ISO_8859_1);
        return new HandshakeException(HandshakeFailure.OTHER_PROGRAM, peer
                + " does not speak the Netty UCX protocol: it began with \"" + PeerText.printable(first) + '"');
    }

    static String otherVersion(Side peer, int version) {
        return peer + " speaks version " + version + " of the Netty UCX protocol, " + peer.other() + " version "
                + VERSION + ": use the same release of the transport on both sides";
    }

    /** Writes {@value #LENGTH} bytes; {@code length} is that of the frame that they begin. */
    void encode(ByteBuf out, int length) {
        out.writeLong(MAGIC).writeShort(VERSION).writeShort(length);
        out.writeInt(ucxVersion);
        ProcessIdentity process = party.process();
        out.writeLong(process.host()).writeLong(process.network()).writeLong(process.ipc()).writeLong(process.pid());
        out.writeLong(process.process()).writeLong(party.engine());
        out.writeShort(lanes);
        out.writeShort((secret ? HAS_SECRET : 0) | (translatedAddresses ? ALLOWS_TRANSLATED_ADDRESSES : 0));
        out.writeInt(channelId).writeInt(window).writeInt(maxMessage);
        out.writeBytes(nonce);
        encodeAddress(out, local);
        encodeAddress(out, remote);
        out.writeZero(RESERVED);
    }

    /** Reads {@value #LENGTH} bytes, of which {@link #isWhole} has looked at the first. */
    static Hello decode(ByteBuf in, Side peer) throws HandshakeException {
        in.skipBytes(PREFIX_LENGTH);
        int ucxVersion = in.readInt();
        ProcessIdentity process =
                new ProcessIdentity(in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong());
        Party party = new Party(process, in.readLong());
        int lanes = in.readUnsignedShort();
        int flags = in.readUnsignedShort();
        int channelId = in.readInt();
        int window = in.readInt();
        int maxMessage = in.readInt();
        byte[] nonce = new byte[NONCE_LENGTH];
        in.readBytes(nonce);
        InetSocketAddress local = decodeAddress(in);
        InetSocketAddress remote = decodeAddress(in);
        in.skipBytes(RESERVED);
        String wrong = wrong(channelId, window, maxMessage);
        if (wrong != null) {
            throw violation(peer + " announces a " + wrong);
        }
        return new Hello(ucxVersion, party, lanes, (flags & HAS_SECRET) != 0,
                (flags & ALLOWS_TRANSLATED_ADDRESSES) != 0, channelId, window, maxMessage, nonce, local, remote);
    }

    /** What is out of range, or null. */
    static String wrong(int channelId, int window, int maxMessage) {
        if (channelId == 0) {
            return "channel id of 0";
        }
        if (window < MIN_WINDOW || window > MAX_WINDOW) {
            return "window of " + Integer.toUnsignedString(window) + " bytes; expected " + MIN_WINDOW + " to "
                    + MAX_WINDOW;
        }
        if (maxMessage < 1 || maxMessage > window) {
            return "largest message of " + Integer.toUnsignedString(maxMessage) + " bytes; expected 1 to the window, "
                    + window;
        }
        return null;
    }

    private static void encodeAddress(ByteBuf out, InetSocketAddress address) {
        if (address == null || address.isUnresolved() || address.getPort() == 0) {
            out.writeZero(ADDRESS_LENGTH + 2);
            return;
        }
        byte[] bytes = address.getAddress().getAddress();
        if (bytes.length != ADDRESS_LENGTH) {
            // IPv4 within IPv6: ::ffff:a.b.c.d
            out.writeZero(10).writeShort(0xffff);
        }
        out.writeBytes(bytes).writeShort(address.getPort());
    }

    private static InetSocketAddress decodeAddress(ByteBuf in) {
        byte[] bytes = new byte[ADDRESS_LENGTH];
        in.readBytes(bytes);
        int port = in.readUnsignedShort();
        if (port == 0) {
            return null;
        }
        try {
            // An IPv4 address within IPv6 comes out as an IPv4 address.
            return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("sixteen bytes are always an address", e);
        }
    }

    /** The version of UCX as text, such as {@code 1.22.0}. */
    static String ucxVersion(int version) {
        return version == 0 ? "none" : (version >>> 24) + "." + (version >>> 16 & 0xff) + "." + (version & 0xffff);
    }
}
