// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/**
 * Whether a loop shares its processor, and would take more from the others by looking for messages than it could gain. Only
 * for the loop's thread.
 * <p>
 * Two loops that look for messages in shared memory are some fifty times as fast as two that sleep, and so get more done
 * even if others wait for them. Over a socket it is less than ten times, because each message takes both through the
 * kernel. And if the process has no other processor, the peer may be the one that waits, or one of the process's own
 * threads that the loop itself waits for.
 */
final class Crowd {

    /** Where threads of the process end more than this share of its sleeps, a loop waits for them: a quarter. */
    private static final int OF_ITS_OWN = 4;

    private final RunQueue runQueue;
    private int sleeps;
    private int wakeups;

    Crowd(RunQueue runQueue) {
        this.runQueue = runQueue;
    }

    /** The loop has slept. @param woken whether another thread of the process has ended that */
    void slept(boolean woken) {
        sleeps++;
        wakeups += woken ? 1 : 0;
    }

    /**
     * Whether it has been so since the last call.
     *
     * @param processors      how many the process has
     * @param hasSharedMemory whether messages can come by more than sockets
     */
    boolean isCrowded(int processors, boolean hasSharedMemory) {
        boolean awaitsThreads = wakeups > sleeps / OF_ITS_OWN;
        sleeps = 0;
        wakeups = 0;
        boolean isOnly = processors == 1;
        return isOnly && awaitsThreads || (isOnly || !hasSharedMemory) && runQueue.isShared();
    }
}
