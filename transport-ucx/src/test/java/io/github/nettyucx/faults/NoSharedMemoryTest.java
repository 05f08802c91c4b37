// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * There is no room for more shared memory: connections that must have some fail with an error, others take the socket,
 * and those that exist go on. Runs in namespaces of its own, where the test can use up what there is.
 */
@Tag("faults")
@Tag("in-every-build")
class NoSharedMemoryTest {

    private static final List<String> NAMESPACES = List.of("unshare", "--mount", "--ipc", "--propagation", "private",
            "sh", "-c", "mount -t tmpfs -o size=64m tmpfs /dev/shm && exec \"$@\"", "sh");

    /** Which of them depends on what gets lost: a message, the last one, or a part of one. */
    private static final Pattern LOST = Pattern.compile("wrong bytes: none, io\\.github\\.nettyucx\\.wire\\.ProtocolException:"
            + " .* missing( at its end)?: UCX loses them where a host has no shared memory left");

    @ParameterizedTest
    @ValueSource(strings = {"sysv", "posix"})
    void aLoopWithoutSharedMemoryGoesOn(String transport) throws Exception {
        assumePermitted("no shared memory", transport);
        try (Child child = Child.start(NAMESPACES, List.of("-Dio.github.nettyucx.tls=" + transport),
                NoSharedMemoryMain.class, transport)) {
            String connecting = child.await("connecting", 60);
            String accepting = child.await("accepting", 60);
            child.await("recovered", 120);
            Faults.report("no shared memory: %s: with no room a connect failed with '%s', a connection to another loop"
                    + " of a server with '%s'; the others went on; afterwards new ones worked",
                    transport, connecting, accepting);
        }
    }

    /** Memory for what arrives is such memory, too. UCX 1.13 to 1.22 tell nobody when they have none left for a message. */
    @ParameterizedTest
    @CsvSource({"sysv, 1000, true", "posix, 1000, true", "posix, 1000, false", "sysv, 30000, false", "posix, 30000, false",
            "sysv, 3000000, false", "posix, 3000000, false"})
    void aStreamOfWhichUcxLosesMessagesEndsWithAnError(String transport, int length, boolean closes) throws Exception {
        assumePermitted("lost messages", transport);
        try (Child child = Child.start(NAMESPACES, List.of("-Dio.github.nettyucx.tls=" + transport),
                LostMessagesMain.class, transport, Integer.toString(length), Boolean.toString(closes))) {
            String end = child.await("ended", 60);
            Faults.report("lost messages: %s, of %d bytes, %s: %s", transport, length, closes ? "closed" : "left open", end);
            assertTrue(LOST.matcher(end).matches(), end);
            // One that is made afterwards is not to lose its own.
            assertEquals("over socket, wrong bytes: none, 1000 bytes, and their end", child.await("again", 60));
        }
    }

    private static void assumePermitted(String what, String transport) throws Exception {
        boolean permitted = isPermitted();
        if (!permitted) {
            Faults.report("%s: %s: NOT RUN, since this user may not make namespaces", what, transport);
        }
        assumeTrue(permitted, "unshare and mount are not permitted");
    }

    private static boolean isPermitted() throws Exception {
        List<String> command = new ArrayList<>(NAMESPACES);
        command.add("true");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    }
}
