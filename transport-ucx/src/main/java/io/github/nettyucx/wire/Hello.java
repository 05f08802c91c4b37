// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;

/**
 * The first thing that each side says, on the endpoint's byte stream: who speaks, and what may be sent to it. Always
 * {@value #LENGTH} bytes, in network byte order.
 *
 * @param version    of the protocol
 * @param ucxVersion of the speaker's UCX: {@code major << 24 | minor << 16 | release}
 * @param channelId  that the peer puts into the tags of its messages to the speaker; never 0
 * @param window     credit that the peer starts with, in bytes
 * @param maxMessage the largest payload of one message that the speaker takes, in bytes
 */
public record Hello(int version, int ucxVersion, int channelId, int window, int maxMessage) {

    /** Of this implementation. */
    public static final int VERSION = 1;

    /** Of an encoded HELLO, in bytes; the rest is zero and kept for later versions. */
    public static final int LENGTH = 64;

    /** Smallest and largest window, in bytes. */
    public static final int MIN_WINDOW = 4 * 1024;
    public static final int MAX_WINDOW = 128 * 1024 * 1024;

    /** "NettyUCX" */
    static final long MAGIC = 0x4e65747479554358L;

    void encode(ByteBuf out) {
        int start = out.writerIndex();
        out.writeLong(MAGIC);
        out.writeShort(version);
        out.writeShort(LENGTH);
        out.writeInt(ucxVersion);
        out.writeInt(channelId);
        out.writeInt(window);
        out.writeInt(maxMessage);
        out.writeZero(LENGTH - (out.writerIndex() - start));
    }

    /**
     * @throws ProtocolException if the bytes are no HELLO of this version, or one that cannot be true
     */
    static Hello decode(ByteBuf in, int ownUcxVersion) throws ProtocolException {
        long magic = in.readLong();
        if (magic != MAGIC) {
            throw new ProtocolException("the peer's first bytes are 0x" + Long.toHexString(magic)
                    + ", not the magic number of the Netty UCX protocol (0x" + Long.toHexString(MAGIC)
                    + "): another program listens or connects there; check host and port",
                    HandshakeFailure.OTHER_PROGRAM);
        }
        int version = in.readUnsignedShort();
        int length = in.readUnsignedShort();
        int ucxVersion = in.readInt();
        if (version != VERSION) {
            throw new ProtocolException("the peer speaks version " + version + " of the Netty UCX protocol, this side "
                    + "version " + VERSION + ": use the same release of the transport on both sides",
                    HandshakeFailure.OTHER_PROTOCOL_VERSION);
        }
        if (length != LENGTH) {
            throw new ProtocolException("the peer's HELLO has " + length + " bytes; expected " + LENGTH);
        }
        if (ucxVersion >>> 16 != ownUcxVersion >>> 16) {
            throw new ProtocolException("the peer runs UCX " + versionString(ucxVersion) + ", this side UCX "
                    + versionString(ownUcxVersion) + ": releases of UCX do not interoperate reliably; "
                    + "use the same one on both sides", HandshakeFailure.OTHER_UCX_VERSION);
        }
        Hello hello = new Hello(version, ucxVersion, in.readInt(), in.readInt(), in.readInt());
        if (hello.channelId == 0 || hello.window < MIN_WINDOW || hello.window > MAX_WINDOW
                || hello.maxMessage < 1 || hello.maxMessage > hello.window) {
            throw new ProtocolException("the peer announced impossible limits: " + hello);
        }
        return hello;
    }

    private static String versionString(int version) {
        return (version >>> 24) + "." + (version >>> 16 & 0xff) + "." + (version & 0xffff);
    }
}
