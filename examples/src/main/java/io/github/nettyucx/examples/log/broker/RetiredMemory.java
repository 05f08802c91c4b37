// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.memory.UcxMemory;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * What those who share a partition have written a segment into, once that was full. It is used again when all of them have
 * said that nothing more of theirs comes there: a reservation that comes too late would be one of another segment. For the
 * broker's event loop only.
 */
final class RetiredMemory {
    /** {@code null} if there is none. */
    private UcxMemory memory;
    private int generation;
    /** Who may still write, or reserve. */
    private final Set<Peer> outstanding = new HashSet<>();

    /**
     * The memory of a full segment is kept.
     *
     * @param generation of the segment
     * @return what the next segment is written into; {@code null} if that is to be some more
     */
    UcxMemory exchange(Inbound full, int generation) {
        if (full.mode() == AccessMode.EXCLUSIVE) {
            // Whoever has said that the next record does not fit, and has had all before it told, writes no more.
            return full.memory;
        }
        var next = take();
        retire(full.memory, generation, full.members());
        return next;
    }

    /** @param generation of the segment that it was used for */
    private void retire(UcxMemory retired, int generation, Collection<Peer> members) {
        // One that waits for somebody who says nothing is not kept: each segment would leave another one.
        close();
        memory = retired;
        this.generation = generation;
        outstanding.addAll(members);
    }

    /** Nothing more of a producer's comes. */
    void released(Peer peer, int ended) {
        if (ended == generation) {
            outstanding.remove(peer);
        }
    }

    /** A producer has gone, and nobody knows what of it is still under way. */
    void gone(Peer peer) {
        if (outstanding.contains(peer)) {
            close();
        }
    }

    /** @return {@code null} if there is none, or somebody may still write there */
    private UcxMemory take() {
        if (!outstanding.isEmpty()) {
            return null;
        }
        var taken = memory;
        memory = null;
        return taken;
    }

    /** Revokes the access to it. */
    void close() {
        outstanding.clear();
        if (memory != null) {
            memory.close();
            memory = null;
        }
    }
}
