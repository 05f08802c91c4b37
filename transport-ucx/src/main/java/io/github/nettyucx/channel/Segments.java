// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.unix.SegmentedDatagramPacket;

/**
 * Packets that are several datagrams. Netty has them beside its native transports, in a jar that this one does without:
 * where it is not there, nobody has such a packet.
 */
final class Segments {

    private static final boolean KNOWN = isKnown();

    private Segments() {
    }

    private static boolean isKnown() {
        try {
            return SegmentedDatagramPacket.class != null;
        } catch (LinkageError e) {
            return false;
        }
    }

    /** The most bytes of each of the message's datagrams; 0 if it is one datagram, or none. */
    static int size(Object message) {
        return KNOWN ? Known.size(message) : 0;
    }

    /** A class of its own, which the JVM does not look into where it must not. */
    private static final class Known {

        static int size(Object message) {
            return message instanceof SegmentedDatagramPacket packet ? packet.segmentSize() : 0;
        }
    }
}
