// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The lanes that a side allows, best first, such as {@code shm,rdma,socket}. Without {@code socket} one of the others
 * is required: where it cannot be had, there is no connection. Immutable.
 */
public final class LaneSet {

    /** Shared memory, RDMA, or the socket: {@code shm,rdma,socket}. */
    public static final LaneSet DEFAULT = new LaneSet(List.of(LaneKind.SHM, LaneKind.RDMA, LaneKind.SOCKET));

    private final List<LaneKind> kinds;
    private final int mask;

    private LaneSet(List<LaneKind> kinds) {
        this.kinds = kinds;
        int bits = 0;
        for (LaneKind kind : kinds) {
            bits |= kind.bit();
        }
        mask = bits;
    }

    /**
     * @param text names of lanes, best first, with commas between them; upper and lower case and blanks do not matter
     * @throws IllegalArgumentException if it names no lane, one that does not exist, or one twice
     */
    public static LaneSet parse(String text) {
        Set<LaneKind> seen = EnumSet.noneOf(LaneKind.class);
        List<LaneKind> kinds = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            LaneKind kind = kind(part.strip(), text);
            if (!seen.add(kind)) {
                throw wrong(text, '"' + kind.toString() + "\" stands there twice");
            }
            kinds.add(kind);
        }
        return new LaneSet(List.copyOf(kinds));
    }

    private static LaneKind kind(String name, String text) {
        for (LaneKind kind : LaneKind.values()) {
            if (kind.toString().equals(name.toLowerCase(Locale.ROOT))) {
                return kind;
            }
        }
        throw wrong(text, name.isEmpty() ? "a name is missing" : "there is no lane \"" + name + '"');
    }

    private static IllegalArgumentException wrong(String text, String what) {
        return new IllegalArgumentException("lanes \"" + text + "\": " + what
                + "; expected one or more of shm, rdma, tcp, socket, best first, with commas between them");
    }

    public boolean contains(LaneKind kind) {
        return kind.isIn(mask);
    }

    /** The {@linkplain LaneKind#bit bits} of all of them. */
    public int mask() {
        return mask;
    }

    /** All of them, best first. */
    public List<LaneKind> kinds() {
        return kinds;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LaneSet set && kinds.equals(set.kinds);
    }

    @Override
    public int hashCode() {
        return kinds.hashCode();
    }

    /** As {@link #parse} takes it. */
    @Override
    public String toString() {
        return kinds.stream().map(LaneKind::toString).collect(Collectors.joining(","));
    }
}
