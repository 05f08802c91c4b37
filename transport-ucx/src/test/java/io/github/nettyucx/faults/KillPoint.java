// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;

/** What a process is doing when it is killed, and what this one does with it meanwhile. */
enum KillPoint {
    /** Connections are being made, or wait to be accepted. */
    CONNECTING(Traffic.Kind.CLOSES, Traffic.Kind.READS),
    /** The sockets are connected, and the process has said nothing of the handshake, or half of its first word. */
    HANDSHAKE(null, Traffic.Kind.READS),
    IDLE(Traffic.Kind.QUIET, Traffic.Kind.QUIET),
    /** Both write, and messages are on their way. */
    EAGER(Traffic.Kind.EAGER, Traffic.Kind.EAGER),
    /** The process writes, and the memory of a message that it has given to UCX is still in use. */
    RENDEZVOUS_OF_THE_KILLED(Traffic.Kind.RENDEZVOUS, Traffic.Kind.READS),
    /** The process reads, and it is this side's memory that is in use. */
    RENDEZVOUS_TO_THE_KILLED(Traffic.Kind.READS, Traffic.Kind.RENDEZVOUS),
    /** Connections come and go, closed by either side, and the process has closed one that has not ended yet. */
    CLOSING(Traffic.Kind.CLOSES, Traffic.Kind.CLOSES),
    /** This side has closed, and waits for the process to take the rest, which it does not. */
    LINGERING(Traffic.Kind.PAUSED, Traffic.Kind.WRITES_AND_CLOSES);

    /** Of the process; {@code null} for one that does not get as far as a connection. */
    final Traffic.Kind killed;
    final Traffic.Kind survivor;

    KillPoint(Traffic.Kind killed, Traffic.Kind survivor) {
        this.killed = killed;
        this.survivor = survivor;
    }

    /** Whether connections end by themselves, so that new ones have to be made. */
    boolean isChurning() {
        return killed == Traffic.Kind.CLOSES;
    }

    /** Whether the process is in the middle of a rendezvous, where the lane has such a thing. */
    boolean isRendezvous() {
        return this == RENDEZVOUS_OF_THE_KILLED || this == RENDEZVOUS_TO_THE_KILLED;
    }

    /**
     * Whether the survivor has open channels whose application has to be told of a reset. Over the kernel's sockets that
     * is as with any TCP: the kernel ends the connections of a process that is killed in good order, unless there were
     * bytes that it had not read.
     */
    boolean isReset(Lane lane) {
        return lane.isLink() && switch (this) {
            case IDLE, EAGER, RENDEZVOUS_OF_THE_KILLED, RENDEZVOUS_TO_THE_KILLED -> true;
            case CONNECTING, HANDSHAKE, CLOSING, LINGERING -> false;
        };
    }
}
