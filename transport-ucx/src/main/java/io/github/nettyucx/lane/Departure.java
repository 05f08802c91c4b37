// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

/**
 * The end of a stream that its application has closed, while the peer is still being told: what a kernel does for a
 * socket after its close. Only the event loop's thread calls.
 */
public interface Departure {

    /** Ends it if its time is over: for a loop that does not run its timers any more. */
    void checkTimeout();

    /** Ends it now, whatever the peer knows. */
    void cut();
}
