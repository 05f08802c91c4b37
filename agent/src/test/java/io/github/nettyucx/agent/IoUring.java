// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Many machines and containers have no io_uring: asks Netty, in a process of its own. */
public final class IoUring {

    private static final Map<String, String> answers = new ConcurrentHashMap<>();

    private IoUring() {
    }

    /** @param arguments the class that tells */
    public static void main(String[] arguments) throws Exception {
        System.out.println("available " + Class.forName(arguments[0]).getMethod("isAvailable").invoke(null));
    }

    /** Leaves a test out that needs it. */
    static void assumeFor(String transport) throws Exception {
        if (transport.equals("IO_URING")) {
            assume("4.1", "io.netty.incubator.channel.uring.IOUring");
        } else if (transport.equals("IO_URING_HANDLER")) {
            assume("4.2", "io.netty.channel.uring.IoUring");
        }
    }

    private static void assume(String netty, String type) throws Exception {
        if (!answers.containsKey(netty)) {
            answers.put(netty, ApplicationProcess.of(IoUring.class, type).onNetty(netty)
                    .with("--enable-native-access=ALL-UNNAMED").run());
        }
        assumeTrue(answers.get(netty).contains("available true"), "this machine has no io_uring for Netty " + netty);
    }
}
