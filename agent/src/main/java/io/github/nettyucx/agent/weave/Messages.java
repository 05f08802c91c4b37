// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

/** What the agent has to say where there is no logging of the application's yet, or no Netty to reach it by. */
public final class Messages {

    private Messages() {
    }

    /** One line, to standard error. */
    public static void say(String message) {
        System.err.println("INFO netty-ucx-agent: " + message);
    }
}
