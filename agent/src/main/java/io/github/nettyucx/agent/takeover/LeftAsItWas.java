// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

/** Says what is not taken over, and why. */
final class LeftAsItWas extends Exception {

    LeftAsItWas(String what) {
        // Thrown in the way of the application's own work: no stack trace.
        super(what, null, false, false);
    }
}
