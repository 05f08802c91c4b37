// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;

import java.util.concurrent.TimeUnit;

/**
 * An orderly close: sends what was flushed before it, then FIN, and closes when the peer has acknowledged that it has
 * everything. UCX's own close would drop what is on its way; a kernel's socket goes on by itself.
 * <p>
 * With {@code SO_LINGER} the close ends after that time at the latest; without, when the peer has taken nothing for
 * the close timeout, or next to nothing that often that it does so in order to keep the channel.
 */
final class Linger {

    /** What a peer takes at least in the close timeout, if it is to be waited for as long as it reads. */
    private static final int LEAST_PROGRESS_BYTES = 64 * 1024;
    /** How often it may take less. */
    private static final int SLOW_PERIODS = 6;
    /** A loop that looks at its timers so much later than it ought to has done something else, and has not looked at peers. */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final EventLoop loop;
    /** {@code null} as long as the handshake is under way. */
    private Lane lane;
    private ChannelOutput output;
    private final Runnable closeTask;
    private final boolean absolute;
    private final long timeoutMillis;
    /** What {@link Lane#moved()} was when it was last looked at. */
    private long movedBefore;
    /** In which it has taken less, so far. */
    private int slowPeriods;
    private Future<?> timeout;
    private long deadlineNanos;
    /** This loop has come late to the timeout: before it is decided what the peer has said meanwhile is taken. */
    private boolean late;
    private boolean done;

    /**
     * @param closeTask closes the channel at once
     */
    Linger(EventLoop loop, UcxSocketChannelConfig config, Runnable closeTask) {
        this.loop = loop;
        this.closeTask = closeTask;
        absolute = config.getSoLinger() > 0;
        timeoutMillis = absolute ? TimeUnit.SECONDS.toMillis(config.getSoLinger()) : config.getCloseTimeoutMillis();
    }

    void start() {
        movedBefore = moved();
        scheduleTimeout();
    }

    /** There is a lane to deliver by. */
    void opened(Lane made, ChannelOutput out) {
        lane = made;
        output = out;
        lane.discardInput();
        // In the next turn: the close may have been called from inside a write.
        output.schedule();
    }

    private void scheduleTimeout() {
        deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        timeout = loop.schedule(this::timedOut, timeoutMillis, TimeUnit.MILLISECONDS);
    }

    /** Ends the wait if its time is over: for a loop that does not run its timers any more. */
    void checkTimeout() {
        if (!done && System.nanoTime() - deadlineNanos >= 0) {
            timeout.cancel(false);
            timedOut();
        }
    }

    private void timedOut() {
        if (!done && !late && output != null && System.nanoTime() - deadlineNanos >= LATE_NANOS) {
            late = true;
            output.schedule();
        } else {
            decide();
        }
    }

    private void decide() {
        late = false;
        long moved = moved();
        if (!done && !absolute && moved > movedBefore
                && (moved - movedBefore >= LEAST_PROGRESS_BYTES || slowPeriods++ < SLOW_PERIODS)) {
            movedBefore = moved;
            scheduleTimeout();
        } else {
            end();
        }
    }

    private long moved() {
        return lane == null ? 0 : lane.moved();
    }

    /** Sends more, or closes when there is nothing left to wait for. */
    void advance() {
        if (done || lane == null) {
            return;
        }
        try {
            output.write();
        } catch (Exception | OutOfMemoryError e) {
            // A file that is shorter than was said, say, or no memory to send from, which must not reach the loop. What
            // could be sent arrives all the same, as with a socket.
            output.giveUp();
        }
        if (lane.isOpen() && output.isDrained()) {
            lane.finish(true);
            lane.settle();
        }
        if (!lane.isOpen() || !lane.peerReads() || lane.isEndDelivered() && lane.isIdle()) {
            end();
        } else if (late) {
            decide();
        }
    }

    /** Closes now, whatever is left. */
    void end() {
        if (!done) {
            done = true;
            timeout.cancel(false);
            closeTask.run();
        }
    }
}
