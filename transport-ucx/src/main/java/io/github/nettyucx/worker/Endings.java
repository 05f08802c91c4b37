// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.ArrayDeque;
import java.util.Queue;

/** Channels whose control sockets have ended: what has arrived from their peers before that is brought in first. */
final class Endings {

    /**
     * How many calls of UCX's progress that did something bring everything that had arrived before the first of them.
     * Each takes at most some messages of each transport; what is waiting is bounded by the receive queues in shared
     * memory, and by the sockets' and devices' buffers.
     */
    private static final int ARRIVED_PROGRESS_CALLS = 1024;

    private static final class Ending {
        private final Runnable report;
        private int progressCalls;
        private boolean allArrived;

        Ending(Runnable report) {
            this.report = report;
        }
    }

    private final Queue<Ending> waiting = new ArrayDeque<>();

    void add(Runnable report) {
        waiting.add(new Ending(report));
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /**
     * UCX has made progress since the last call of this.
     *
     * @param calls of its progress
     * @param idle  whether the last of them did nothing
     */
    void progressed(int calls, boolean idle) {
        for (Ending ending : waiting) {
            ending.progressCalls += calls;
            ending.allArrived |= idle || ending.progressCalls >= ARRIVED_PROGRESS_CALLS;
        }
    }

    /** Whether there is one before which everything has arrived. */
    boolean isFirstReady() {
        Ending first = waiting.peek();
        return first != null && first.allArrived;
    }

    /** @return what tells of it */
    Runnable removeFirst() {
        return waiting.remove().report;
    }
}
