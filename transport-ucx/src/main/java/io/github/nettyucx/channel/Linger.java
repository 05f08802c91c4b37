// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.Outbound;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * An orderly close: sends what was flushed before it, then FIN, and closes when the peer has acknowledged that it has
 * everything. UCX's own close would drop what is on its way.
 * <p>
 * With {@code SO_LINGER} the close ends after that time at the latest; without, when the peer has taken nothing for
 * the close timeout.
 */
final class Linger {

    private final EventLoop loop;
    private final Connection connection;
    private final ChannelOutput output;
    private final Runnable closeTask;
    private final boolean absolute;
    private final long timeoutMillis;
    /** What {@link Outbound#moved()} was when it was last looked at. */
    private long movedBefore;
    private Future<?> timeout;
    private long deadlineNanos;
    private boolean done;

    /**
     * @param closeTask closes the channel at once
     */
    Linger(EventLoop loop, UcxSocketChannelConfig config, Connection connection, ChannelOutput output,
           Runnable closeTask) {
        this.loop = loop;
        this.connection = connection;
        this.output = output;
        this.closeTask = closeTask;
        absolute = config.getSoLinger() > 0;
        timeoutMillis = absolute ? TimeUnit.SECONDS.toMillis(config.getSoLinger()) : config.getCloseTimeoutMillis();
    }

    void start() {
        connection.discardInput();
        movedBefore = moved();
        // In the next turn: the close may have been called from inside a write.
        output.schedule();
        scheduleTimeout();
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
        long moved = moved();
        if (!done && !absolute && moved > movedBefore) {
            movedBefore = moved;
            scheduleTimeout();
        } else {
            end();
        }
    }

    private long moved() {
        Outbound outbound = connection.outbound();
        return outbound == null ? 0 : outbound.moved();
    }

    /** Sends more, or closes when there is nothing left to wait for. */
    void advance() {
        if (done || connection.isOpening()) {
            return;
        }
        try {
            output.writeRest();
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // A file that is shorter than was said, say, or no memory to send from, which must not reach the loop. What
            // could be sent arrives all the same, as with a socket.
            output.giveUp();
        }
        if (connection.isOpen() && output.isDrained()) {
            connection.outbound().finish(true);
            connection.settle();
        }
        boolean everythingArrived = !connection.outbound().isOpen() && !connection.outbound().isFinishing()
                && connection.outbound().isIdle();
        if (!connection.isOpen() || !connection.inbound().peerReads() || everythingArrived) {
            end();
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
