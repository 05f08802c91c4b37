// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Commands that run a process apart from this one, in namespaces or as another user. */
public final class Namespaces {

    private static final long SECONDS = 10;

    private Namespaces() {
    }

    /** In namespaces of its own: {@code --ipc}, {@code --pid}, {@code --net}. */
    static List<String> unshare(String... namespaces) throws Exception {
        List<String> command = new ArrayList<>(List.of("unshare"));
        command.addAll(List.of(namespaces));
        if (command.contains("--pid")) {
            // The process itself stays in the namespace of this one: a child is the first in the new one.
            command.addAll(List.of("--fork", "--kill-child"));
        }
        return permitted(command);
    }

    /** In an IPC namespace of its own, with a {@code /dev/shm} of its own, after a preparation in both. */
    public static List<String> prepared(String preparation) throws Exception {
        return permitted(List.of("unshare", "--ipc", "--mount", "--propagation", "private",
                "sh", "-c", preparation + " && exec \"$@\"", "sh"));
    }

    /** As nobody, who may read files as root may, such as those of the class path, and nothing else. */
    static List<String> asNobody() throws Exception {
        return permitted(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"));
    }

    /** Skips the test, and says why, if this user may not do that on this machine. */
    private static List<String> permitted(List<String> launcher) throws Exception {
        List<String> command = new ArrayList<>(launcher);
        command.add("true");
        String problem;
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes()).strip();
            problem = process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0 ? null : output;
        } catch (IOException e) {
            problem = e.getMessage();
        }
        if (problem != null) {
            System.out.println("NOT RUN: " + String.join(" ", launcher) + ": " + problem);
        }
        assumeTrue(problem == null, problem);
        return launcher;
    }
}
