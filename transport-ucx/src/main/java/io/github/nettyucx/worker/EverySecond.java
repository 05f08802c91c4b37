// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/** Something that is looked at about once a second, also by a loop that sleeps. */
@FunctionalInterface
public interface EverySecond {

    /** @return whether to look again in a second */
    boolean look();
}
