// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What happens for each message must not leave anything for the garbage collector. */
@Timeout(120)
class SocketAllocationTest {

    /** A round has some five calls; an object would be 16 bytes at least. The rest is the measurement's own. */
    private static final double MAX_BYTES_PER_ROUND = 1;
    /** Once in a great many processes the JIT compiler leaves an object in, by what it has seen before. */
    private static final int PROCESSES = 3;

    @ParameterizedTest
    @EnumSource
    void allocatesNothing(SocketAllocationMain.Work work) throws Exception {
        if (work == SocketAllocationMain.Work.DATAGRAM_IPV6) {
            SocketPair.ipv6Loopback();
        }
        double least = Double.MAX_VALUE;
        for (int i = 0; i < PROCESSES && least >= MAX_BYTES_PER_ROUND; i++) {
            least = Math.min(least, bytesPerRound(work));
        }
        double bytes = least;
        assertTrue(bytes < MAX_BYTES_PER_ROUND, () -> bytes + " bytes allocated per round");
    }

    private static double bytesPerRound(SocketAllocationMain.Work work) throws Exception {
        Process process = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                SocketAllocationMain.class.getName(), work.name())).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), output);
            return Double.parseDouble(output.lines().toList().getLast());
        } finally {
            process.destroyForcibly();
        }
    }
}
