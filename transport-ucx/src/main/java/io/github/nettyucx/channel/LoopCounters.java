// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.Counters;
import io.github.nettyucx.worker.WorkerCounter;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Everything that one event loop counts, or the sum of several. Written by one thread; any may read. */
final class LoopCounters {

    enum Event {
        PARKS,
        PARKS_REFUSED,
        WAKEUPS,
        STRANGERS
    }

    final Counters<WorkerCounter> worker = new Counters<>(WorkerCounter.class);
    final Counters<Event> events = new Counters<>(Event.class);
    final Counters<HandshakeFailure> handshakeFailures = new Counters<>(HandshakeFailure.class);
    final Counters<CloseReason> closings = new Counters<>(CloseReason.class);
    /** By UCX's names of them. */
    final Map<String, Traffic> lanes = new ConcurrentHashMap<>();

    Traffic lane(String name) {
        return lanes.computeIfAbsent(name, lane -> Traffic.ofLane());
    }

    /**
     * @param woken whether another thread ended the sleep, rather than UCX or a timer
     */
    void parked(boolean woken) {
        events.increment(Event.PARKS);
        if (woken) {
            events.increment(Event.WAKEUPS);
        }
    }

    void parkRefused() {
        events.increment(Event.PARKS_REFUSED);
    }

    void addAll(LoopCounters other) {
        worker.addAll(other.worker);
        events.addAll(other.events);
        handshakeFailures.addAll(other.handshakeFailures);
        closings.addAll(other.closings);
        other.lanes.forEach((name, traffic) -> lane(name).addAll(traffic));
    }
}
