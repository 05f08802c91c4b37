// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.worker.LinkPort;
import io.github.nettyucx.worker.WorkerPort;

/** This side of a link, of which a {@link LinkTable} knows. It is closed with its last user, or stays for the next one. */
final class OwnHalf implements LinkHalf {

    private enum State {
        /** The connecting side's, without an endpoint: the peer has not told its address. */
        OFFERED,
        /** The connecting side's: both halves exist, and nothing has crossed from one to the other. */
        REACHING,
        /** The serving side's: the peer has not told that it has made its half. */
        UNCONFIRMED,
        /** Both halves exist. */
        CONFIRMED,
        /** The other half is gone. */
        STALE,
        CLOSED
    }

    private final LinkTable table;
    private final PeerKey key;
    private final WorkerPort worker;
    private final byte[] address;
    private final long number;
    private State state;
    private long theirs;
    private LinkPort endpoint;
    private int pins = 1;
    private long idleSinceNanos;
    /** What is waited for in {@link State#REACHING}, if anybody does. */
    private Crossing crossing;

    /** Without an endpoint; its first user holds it. */
    OwnHalf(LinkTable table, PeerKey key, WorkerPort worker, byte[] address) {
        this.table = table;
        this.key = key;
        this.worker = worker;
        this.address = address;
        state = key.serving() ? State.UNCONFIRMED : State.OFFERED;
        number = table.newNumber();
        worker.pin();
    }

    PeerKey key() {
        return key;
    }

    @Override
    public long number() {
        return number;
    }

    @Override
    public byte[] address() {
        return address.clone();
    }

    LinkPort endpoint() {
        return endpoint;
    }

    WorkerPort worker() {
        return worker;
    }

    /** The number of the peer's half. */
    long theirs() {
        return theirs;
    }

    // ------------------------------------------------------------------------------------------- how it comes about

    /** It has its endpoint. */
    void join(long theirs, LinkPort endpoint) {
        this.theirs = theirs;
        this.endpoint = endpoint;
        if (state == State.OFFERED) {
            // Memory that both have attached leads from one to the other.
            state = key.lane() == LaneKind.SHM ? State.CONFIRMED : State.REACHING;
        }
    }

    /** The peer has made its half. */
    void confirm() {
        if (state == State.UNCONFIRMED) {
            state = State.CONFIRMED;
        }
    }

    boolean isReaching() {
        return state == State.REACHING;
    }

    /** Begins to wait. */
    void reach(Crossing crossing) {
        this.crossing = crossing;
        crossing.start();
    }

    /** It is known whether it reaches the other side. */
    void tried(boolean crossed) {
        endCrossing();
        state = crossed ? State.CONFIRMED : State.STALE;
    }

    /** It is known whether it reaches the other side, or nobody asks any more: those who wait for it go on. */
    private void endCrossing() {
        if (state == State.REACHING) {
            table.made(this);
        }
        if (crossing != null) {
            crossing.end();
            crossing = null;
            table.crossed();
        }
    }

    // ------------------------------------------------------------------------------------------- its use

    /** Whether another connection may use it. */
    boolean isUsable() {
        return state == State.CONFIRMED && endpoint.isOpen() && !worker.isRetired();
    }

    /**
     * Whether this number is the other half's, and the link is open: who uses it can go on to do so. That the other half
     * is gone is no more than a guess, and who names the number knows better.
     */
    boolean isWith(long number) {
        return theirs == number && endpoint.isOpen() && state != State.CLOSED;
    }

    OwnHalf pinned() {
        if (pins++ == 0) {
            table.idle(-1);
        }
        return this;
    }

    /** @throws IllegalStateException if nobody holds it */
    @Override
    public void release() {
        if (pins == 0) {
            throw new IllegalStateException("released more often than pinned: " + this);
        }
        if (--pins == 0) {
            idleSinceNanos = table.now();
            if (state != State.CLOSED) {
                table.idle(1);
            }
            if (state == State.UNCONFIRMED) {
                retireUnlessShared();
                close();
            } else if (!isUsable()) {
                close();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- its end

    /** The peer does not have its half any more. */
    void goStale() {
        if (state == State.CONFIRMED) {
            state = State.STALE;
        }
    }

    /** The client makes another link, because it does not have its half of this one any more. */
    void outdate() {
        if (state == State.CONFIRMED) {
            state = State.STALE;
        } else if (state == State.UNCONFIRMED) {
            // The client has given it up, and perhaps not made its own.
            retireUnlessShared();
            state = State.STALE;
        }
        if (pins == 0) {
            close();
        }
    }

    /**
     * The client may not have made its half. Over networks it uses another worker then, and who has made his is in step,
     * for UCX counts between two workers; this one serves others as well.
     */
    private void retireUnlessShared() {
        if (key.lane() == LaneKind.SHM) {
            worker.retire();
        }
    }

    /** Closes it if nobody has used it for long; else looks whether the time is over in which something has to cross it. */
    void collect(long now) {
        if (crossing != null) {
            crossing.look(now);
        } else if (pins == 0 && (now - idleSinceNanos >= LinkTable.IDLE_NANOS || !isUsable())) {
            close();
        }
    }

    void close() {
        if (state != State.CLOSED) {
            String suspicion = crossing == null ? null : crossing.suspicion(table.now());
            endCrossing();
            state = State.CLOSED;
            if (pins == 0) {
                table.idle(-1);
            }
            table.closing(this, suspicion);
            if (endpoint != null) {
                endpoint.close();
            }
            worker.unpin();
        }
    }

    @Override
    public String toString() {
        return key.lane() + " link " + Long.toHexString(number) + " (" + state + ')';
    }
}
