// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Processes that this one has started. When it ends in an orderly way, as it does by SIGTERM, they are ended as well. */
public final class StartedProcesses {
    /** Is also the lock: none may begin unseen while the others are ended. */
    private static final Set<Process> RUNNING = new HashSet<>();
    private static boolean ending;

    /** How long one that has been told to end may take to be gone, in milliseconds. */
    private static final long GONE_MILLIS = 2_000;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(StartedProcesses::endAll, "stop-children"));
    }

    private StartedProcesses() {
    }

    /** Has the hook be there that ends them, which it could not be any more when this process is about to end. */
    static void prepare() {
        // The class has it.
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

    private static List<Process> endAll() {
        synchronized (RUNNING) {
            ending = true;
            RUNNING.forEach(Process::destroy);
            return List.copyOf(RUNNING);
        }
    }

    /** For other hooks, which delete what the processes have written: ends them, and waits a little until they are gone. */
    static void endAllAndWait() {
        try {
            for (var process : endAll()) {
                process.waitFor(GONE_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
