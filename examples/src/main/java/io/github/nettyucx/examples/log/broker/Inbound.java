// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.netty.buffer.ByteBuf;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Memory that producers write records of one segment into, at the places where they will lie in the file. When a segment is
 * full, and nobody has left while it was written, the memory is used for another one. In all other cases it is not: what a
 * producer writes too late is never read.
 */
abstract sealed class Inbound permits ExclusiveInbound, SharedInbound {

    /** Records that came by message, and have been checked, and their sender. */
    record Sent(Peer peer, int request, ByteBuf records, int count) { }

    /** What the partition does for its memory. */
    interface Commits {
        /** @return what is wrong with the records, or {@code null}. Those in front of one that is damaged are committed */
        String commit(Peer peer, int request, UcxMemory memory, long position, long length);

        /** The same, of records that came by message. */
        void commit(Sent sent);

        /** Ends this segment, and the access to it. */
        void end(SealReason reason);

        /** Ends it because of somebody, who is told why and sent away. */
        void end(Peer offender, int request, String fault);
    }

    final UcxMemory memory;
    final long capacity;
    final Commits commits;
    private boolean abandoned;
    /** Who had access to the segment before, and is to be told of this one. */
    private final Set<Peer> untold = new LinkedHashSet<>();

    Inbound(UcxMemory memory, long capacity, Commits commits) {
        this.memory = memory;
        this.capacity = capacity;
        this.commits = commits;
    }

    abstract AccessMode mode();

    /** A producer has written. */
    abstract void written(Peer peer, UcxMemoryNotification put);

    /** A producer's record does not fit. */
    abstract void full(Peer peer, int turn, long position);

    /** A record has come by message. */
    abstract void sent(Sent sent);

    /** Everybody who has access. */
    abstract Collection<Peer> members();

    /** Takes the access from one. */
    final void remove(Peer peer) {
        abandoned = true;
        // If it comes again it is told by the answer.
        untold.remove(peer);
        removed(peer);
    }

    abstract void removed(Peer peer);

    /** Those with access are told of the segment later, by {@link #tell}. */
    final void tellLater() {
        untold.addAll(members());
    }

    /** Tells those who are to be told, and have not left meanwhile. */
    final void tell(Message granted) {
        var all = List.copyOf(untold);
        untold.clear();
        all.forEach(peer -> peer.send(granted));
    }

    /** Whether somebody has left, of whom something may be under way for which nobody answers. */
    final boolean isAbandoned() {
        return abandoned;
    }

    /** Where a producer that comes now goes on. */
    abstract long position();

    /** Revokes the access of all. What came by message and was not committed is the caller's again. */
    final List<Sent> end() {
        memory.close();
        return stop();
    }

    /** The same, but the memory stays, with the access to it. */
    List<Sent> stop() {
        return List.of();
    }
}
