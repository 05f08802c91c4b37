// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.util.Locale;

/** What can carry the bytes of a connection. */
public enum LaneKind {
    /** A link over UCX's shared memory, between processes of one host. */
    SHM,
    /** A link over UCX's RDMA devices. */
    RDMA,
    /** A link over UCX's own TCP; only where it is asked for. */
    TCP,
    /** The control socket itself, without UCX. */
    SOCKET;

    private static final LaneKind[] KINDS = values();

    /** Its bit in a set of lanes, in {@link Hello} and in {@link Terms#available}. */
    public int bit() {
        return 1 << ordinal();
    }

    /** Whether a set of lanes contains it. */
    public boolean isIn(int mask) {
        return (mask & bit()) != 0;
    }

    /** Its number on the wire, from 1. */
    int number() {
        return ordinal() + 1;
    }

    /** The lane with that number, or null if there is none. */
    static LaneKind ofNumber(int number) {
        return number >= 1 && number <= KINDS.length ? KINDS[number - 1] : null;
    }

    /** In lower case, as in {@link LaneSet#parse}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
