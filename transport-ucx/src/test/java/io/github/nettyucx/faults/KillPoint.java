// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

/** What a process is doing when it is killed, and what this one does with it meanwhile. */
enum KillPoint {
    /** Connections are being made all the time, or wait to be accepted. */
    CONNECTING(Traffic.Kind.CLOSES, Traffic.Kind.READS),
    /** The endpoint is connected, and the process has sent no HELLO, or half of one. */
    HANDSHAKE(null, Traffic.Kind.READS),
    IDLE(Traffic.Kind.QUIET, Traffic.Kind.QUIET),
    /** Both write small messages. */
    EAGER(Traffic.Kind.SMALL, Traffic.Kind.SMALL),
    /** The process writes large messages. */
    RENDEZVOUS_OF_THE_KILLED(Traffic.Kind.LARGE, Traffic.Kind.READS),
    /** The process reads large messages. */
    RENDEZVOUS_TO_THE_KILLED(Traffic.Kind.READS, Traffic.Kind.LARGE),
    /** Connections come and go, closed by either side. */
    CLOSING(Traffic.Kind.CLOSES, Traffic.Kind.CLOSES),
    /** This side has closed, and waits for the process to take the rest, which it does not. */
    LINGERING(Traffic.Kind.PAUSED, Traffic.Kind.WRITES_AND_CLOSES);

    /** Of the process; {@code null} for one that speaks UCX, but not the protocol. */
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

    /** Whether the survivor has open channels whose application has to be told of a reset. */
    boolean isReset() {
        return switch (this) {
            case IDLE, EAGER, RENDEZVOUS_OF_THE_KILLED, RENDEZVOUS_TO_THE_KILLED -> true;
            case CONNECTING, HANDSHAKE, CLOSING, LINGERING -> false;
        };
    }
}
