// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/** Processes that this one has started. When it ends in an orderly way, as it does by SIGTERM, they are ended as well. */
public final class StartedProcesses {
    /** Is also the lock: none may begin unseen while the others are ended. */
    private static final Set<Process> RUNNING = new HashSet<>();
    private static boolean ending;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(StartedProcesses::endAll, "stop-children"));
    }

    private StartedProcesses() {
    }

    /**
     * @throws IOException if it cannot be started, or this process is about to end
     */
    public static Process start(ProcessBuilder builder) throws IOException {
        synchronized (RUNNING) {
            if (ending) {
                throw new IOException("this process is about to end");
            }
            var process = builder.start();
            RUNNING.add(process);
            process.onExit().thenAccept(StartedProcesses::forget);
            return process;
        }
    }

    private static void forget(Process ended) {
        synchronized (RUNNING) {
            RUNNING.remove(ended);
        }
    }

    private static void endAll() {
        synchronized (RUNNING) {
            ending = true;
            RUNNING.forEach(Process::destroy);
        }
    }
}
