// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/** Somebody who can be asked to do what a scenario describes. */
interface Contender {
    /** What the table calls it, for example {@code ucx} or {@code nio}. */
    String name();

    /** The lane it was told to use, or {@code -} if it has no choice. */
    String lane();

    /** How it waits, or {@code -} if it has no choice. */
    String waitMode();

    /**
     * Measures once. Blocks until that is done.
     *
     * @throws Interruption.Interrupted if the user wants no more
     * @throws io.github.nettyucx.examples.ExampleFailure saying why it cannot be measured here
     */
    Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException;
}
