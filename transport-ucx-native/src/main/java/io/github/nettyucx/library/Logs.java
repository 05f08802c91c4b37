// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

/**
 * Loggers, to be asked for when there is something to say. The first one that anybody asks for has the JDK make its logging
 * ready, which takes its time on a thread of the application's, and is for the application to do before.
 */
final class Logs {

    private Logs() {
    }

    static System.Logger of(Class<?> who) {
        return System.getLogger(who.getName());
    }
}
