// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import java.util.Collection;
import java.util.List;

/** One producer writes, record behind record. */
final class ExclusiveInbound extends Inbound {
    private static final long UNKNOWN = -1;

    /** {@code null} when it has gone. */
    private Peer holder;
    private long position;
    private long fullAt = UNKNOWN;

    ExclusiveInbound(UcxMemory memory, long capacity, long position, Peer holder, Commits commits) {
        super(memory, capacity, commits);
        this.position = position;
        this.holder = holder;
    }

    @Override
    AccessMode mode() {
        return AccessMode.EXCLUSIVE;
    }

    @Override
    void written(Peer peer, UcxMemoryNotification put) {
        if (peer != holder) {
            peer.fail(OrderWord.request(put.value()), ErrorCode.HELD, "another producer has the partition for itself");
            peer.disconnect();
            return;
        }
        var request = OrderWord.request(put.value());
        if (put.offset() != position) {
            commits.end(peer, request, "the record was written at byte " + put.offset() + " (expected: " + position + ")");
            return;
        }
        var fault = commits.commit(peer, request, memory, position, put.length());
        if (fault != null) {
            commits.end(peer, request, fault);
            return;
        }
        position += put.length();
        endIfFull();
    }

    @Override
    void full(Peer peer, int turn, long at) {
        if (peer == holder) {
            // Messages overtake notifications: what lies before may not have been told yet.
            fullAt = at;
            endIfFull();
        }
    }

    private void endIfFull() {
        if (fullAt == position) {
            commits.end(SealReason.FULL);
        }
    }

    @Override
    void sent(Sent sent) {
        sent.records().release();
        sent.peer().fail(sent.request(), ErrorCode.HELD, "a producer has the partition for itself: wait until it has left,"
                + " or take another partition");
    }

    @Override
    Collection<Peer> members() {
        return holder == null ? List.of() : List.of(holder);
    }

    @Override
    void removed(Peer peer) {
        if (peer == holder) {
            holder = null;
        }
    }

    @Override
    long position() {
        return position;
    }
}
