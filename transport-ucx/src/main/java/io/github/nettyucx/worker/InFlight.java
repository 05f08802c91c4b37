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

    /**
     * {@link #poll} has thrown this, which has been logged; the turn of the others goes on.
     *
     * @return as {@link #poll} does
     */
    default boolean threw(Throwable cause) {
        return true;
    }
}
