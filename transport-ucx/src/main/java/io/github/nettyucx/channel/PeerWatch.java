// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;

import java.util.concurrent.TimeUnit;

/**
 * Has a lane look for a peer whose host is gone, from a write on until the peer has acknowledged everything, and nothing has
 * been written for a while. A connection over which nothing is under way is looked after by the kernel.
 */
final class PeerWatch implements Runnable {

    /** So many looks in the time that a peer may be silent for. */
    private static final int LOOKS = 15;

    private final EventLoop loop;
    private final Lane lane;
    private final int millis;
    /** {@code null} while there is nothing to look for. */
    private Future<?> nextLook;
    /**
     * Since the last look. Where bytes go all the time looks follow each other, though all may just have been acknowledged: a
     * write hardly ever finds that there is none to come, and the JIT, which takes that for never, would have to compile again
     * what writes.
     */
    private boolean isWritten;

    /** @param millis that the peer's host may be silent for */
    PeerWatch(EventLoop loop, Lane lane, int millis) {
        this.loop = loop;
        this.lane = lane;
        this.millis = millis;
    }

    /** Something has been written. */
    void written() {
        isWritten = true;
        if (nextLook == null) {
            schedule();
        }
    }

    /** Looks no more. */
    void close() {
        if (nextLook != null) {
            nextLook.cancel(false);
        }
    }

    private void schedule() {
        nextLook = loop.schedule(this, Math.max(1, millis / LOOKS), TimeUnit.MILLISECONDS);
    }

    @Override
    public void run() {
        nextLook = null;
        boolean wasWritten = isWritten;
        isWritten = false;
        if (lane.checkPeer(millis) || wasWritten) {
            schedule();
        }
    }
}
