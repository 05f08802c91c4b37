// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LinkReach;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.LinkPort;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The wait for the first bytes of a link to cross. UCX makes an endpoint whether or not its network leads to the peer, and
 * keeps for half a minute what is sent on one that does not.
 */
final class Crossing implements InFlight {

    /**
     * From a failure or the end of the time to the verdict. The control socket may be about to tell that the peer has gone,
     * which is no fault of the network; and a loop that was stopped has yet to look at what has come meanwhile.
     */
    static final long LAST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private enum State {
        UNDER_WAY,
        /** It has failed, or its time is over. */
        LAST_LOOK,
        /** The verdict is known, and about to be told. */
        KNOWN,
        /** Nobody wants to know any more. */
        ENDED
    }

    private final LinkPort endpoint;
    private final LinkReach asking;
    private final LongSupplier clock;
    private final Executor later;
    private final Consumer<String> told;
    private State state = State.UNDER_WAY;
    private long beginNanos;
    /** Of the last look. */
    private long sinceNanos;
    private long request;
    private String failure;

    /**
     * @param asking     says how long it may take
     * @param later      by which {@code told} is called: never within the worker's turn, since that can lead to anything
     * @param told       why nothing crosses, or {@code null} when something has; once, unless it is ended before
     */
    Crossing(LinkPort endpoint, LinkReach asking, LongSupplier clock, Executor later, Consumer<String> told) {
        this.endpoint = endpoint;
        this.asking = asking;
        this.clock = clock;
        this.later = later;
        this.told = told;
    }

    void start() {
        beginNanos = clock.getAsLong();
        request = endpoint.flush();
        if (request > 0) {
            endpoint.track(this);
        } else {
            int status = (int) request;
            request = 0;
            flushed(status);
        }
    }

    @Override
    public boolean poll() {
        if (request == 0) {
            return false;
        }
        int status = endpoint.status(request);
        if (status > 0) {
            return true;
        }
        endpoint.free(request);
        request = 0;
        flushed(status);
        return false;
    }

    private void flushed(int status) {
        if (status == 0) {
            tell(null);
        } else {
            failure = "the link has failed before anything had crossed it: " + EndpointPort.nameOf(status);
        }
    }

    private void tell(String reason) {
        state = State.KNOWN;
        later.execute(() -> {
            if (state != State.ENDED) {
                told.accept(reason);
            }
        });
    }

    /** To be called again and again, for it is the time that tells that nothing crosses. */
    void look(long now) {
        if (state == State.UNDER_WAY && (failure != null || asking.isTooLong(now - beginNanos))) {
            sinceNanos = now;
            state = State.LAST_LOOK;
        } else if (state == State.LAST_LOOK && now - sinceNanos >= LAST_LOOK_NANOS) {
            tell(reason(sinceNanos));
        }
    }

    private String reason(long now) {
        return failure != null ? failure : "nothing has crossed the link within "
                + TimeUnit.NANOSECONDS.toMillis(now - beginNanos) + " ms";
    }

    /** Why the next one had better take another lane, though nobody has waited for the verdict; {@code null} if there is no cause. */
    String suspicion(long now) {
        boolean slow = state != State.KNOWN && now - beginNanos >= LAST_LOOK_NANOS;
        return asking.hasOther() && (failure != null || slow) ? reason(now) : null;
    }

    /** Nobody is told any more. UCX ends the flush with the endpoint. */
    void end() {
        state = State.ENDED;
        if (request > 0) {
            long running = request;
            request = 0;
            endpoint.abandon(running, null);
        }
    }
}
