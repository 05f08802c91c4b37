// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.channel.LoopCounters.Event;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.worker.SendBufferPool;
import io.github.nettyucx.worker.WorkerCounter;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What one event loop, or all of a group, had done when this object was made; it does not change.
 * <p>
 * Counts begin with the loops and never go down. They are read one after another while the loops go on, so that two
 * that belong together may differ by what happened in between. Making one disturbs no loop.
 *
 * @see UcxEventLoopGroup#metrics()
 * @see UcxEventLoop#metrics()
 */
public final class UcxMetrics {

    private final LoopCounters sum = new LoopCounters();
    private final Map<String, UcxTraffic> lanes;
    private final UcxTraffic traffic;

    UcxMetrics(Collection<LoopCounters> loops) {
        loops.forEach(sum::addAll);
        Map<String, UcxTraffic> byLane = new TreeMap<>();
        sum.lanes.forEach((name, its) -> byLane.put(name, new UcxTraffic(Collections.singleton(its))));
        lanes = Collections.unmodifiableMap(byLane);
        traffic = new UcxTraffic(sum.lanes.values());
    }

    /** What several loops, or groups of them, had done. */
    public static UcxMetrics sum(Collection<UcxMetrics> parts) {
        return new UcxMetrics(parts.stream().map(part -> part.sum).toList());
    }

    // ------------------------------------------------------------------------------------------- connections

    /** What has gone over all connections that have been open. */
    public UcxTraffic traffic() {
        return traffic;
    }

    /** The same by lane, as {@link UcxSocketChannel#lane()} names it; only lanes that connections have gone over. */
    public Map<String, UcxTraffic> lanes() {
        return lanes;
    }

    /** Connections that were not made, whichever side this one was. */
    public long handshakesFailed() {
        return sum.handshakeFailures.sum();
    }

    /** Those of {@link #handshakesFailed()} that failed for this reason. */
    public long handshakesFailed(HandshakeFailure reason) {
        return sum.handshakeFailures.get(reason);
    }

    /** Connections that had been open and ended like that. */
    public long connectionsClosed(CloseReason reason) {
        return sum.closings.get(reason);
    }

    /** Connections that had been open and did not end in good order: all reasons but {@link CloseReason#ORDERLY}. */
    public long resets() {
        return sum.closings.sum() - sum.closings.get(CloseReason.ORDERLY);
    }

    /**
     * Connections that a server had accepted and that ended in the handshake by the client's doing: it said nothing,
     * something else, or something wrong.
     */
    public long strangersTurnedAway() {
        return sum.events.get(Event.STRANGERS);
    }

    /** Messages for channels that nobody has: they were late, or forged. They have been thrown away. */
    public long messagesForUnknownChannels() {
        return sum.worker.get(WorkerCounter.UNKNOWN_CHANNEL_MESSAGES);
    }

    // ------------------------------------------------------------------------------------------- loops

    /**
     * Calls of {@code ucp_worker_progress}: one or more for each UCX worker in each turn of its loop, but for turns in which
     * messages wait to be taken before a failure is told.
     */
    public long progressCalls() {
        return sum.worker.get(WorkerCounter.PROGRESS_CALLS);
    }

    /** Those of {@link #progressCalls()} in which UCX did something. */
    public long progressCallsWithWork() {
        return sum.worker.get(WorkerCounter.PROGRESS_CALLS_WITH_WORK);
    }

    /**
     * How often a loop has gone to sleep: there was nothing to do, or UCX has for long had something to do that comes to
     * nothing, and the loop sleeps for 50 µs to 1 ms at a time.
     */
    public long parks() {
        return sum.events.get(Event.PARKS);
    }

    /** How often UCX did not let a loop sleep: there was something to do already. */
    public long parksRefused() {
        return sum.events.get(Event.PARKS_REFUSED);
    }

    /** Those of {@link #parks()} that another thread ended, by a task; the others ended by UCX, a socket or a timer. */
    public long wakeups() {
        return sum.events.get(Event.WAKEUPS);
    }

    // ------------------------------------------------------------------------------------------- at the moment

    /** Operations that UCX has not completed yet, also of channels that are gone. */
    public long operationsInFlight() {
        return gauge(WorkerCounter.OPERATIONS_STARTED, WorkerCounter.OPERATIONS_FINISHED);
    }

    /** UCX endpoints: this side's halves of links, each of which all connections to one peer's loop share. */
    public long endpoints() {
        return gauge(WorkerCounter.ENDPOINTS_OPENED, WorkerCounter.ENDPOINTS_CLOSED);
    }

    /** UCX workers. */
    public long workers() {
        return gauge(WorkerCounter.WORKERS_CREATED, WorkerCounter.WORKERS_DESTROYED);
    }

    /** Memory of the buffers that small writes are gathered in, in use and kept for the next use, in bytes. */
    public long sendBufferBytes() {
        return gauge(WorkerCounter.SEND_BUFFERS_ALLOCATED, WorkerCounter.SEND_BUFFERS_RELEASED)
                * SendBufferPool.CAPACITY;
    }

    /** For tests. */
    long worker(WorkerCounter counter) {
        return sum.worker.get(counter);
    }

    private long gauge(WorkerCounter up, WorkerCounter down) {
        // The two are not read at the same moment.
        return Math.max(0, sum.worker.get(up) - sum.worker.get(down));
    }
}
