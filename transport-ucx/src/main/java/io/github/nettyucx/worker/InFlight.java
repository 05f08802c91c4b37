// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/** Something that has requests in flight, which are completed by polling. */
@FunctionalInterface
public interface InFlight {

    /**
     * Looks which requests have completed.
     *
     * @return whether there are requests left to poll in the next turn
     */
    boolean poll();
}
