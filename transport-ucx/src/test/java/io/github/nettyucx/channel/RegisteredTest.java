// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Memory that is registered once, as RDMA needs it, carries every byte: on lanes that do not need it, where UCX takes
 * the registration as well. What happens follows from a seed, which a failure tells.
 */
@Timeout(300)
class RegisteredTest {

    private static final Long SEED = Long.getLong("io.github.nettyucx.test.seed");
    private static final int TRANSFERS = 6;

    /** @param threshold from which on UCX makes a rendezvous, in its words */
    @ParameterizedTest
    @CsvSource({"SHM, inf", "SHM, 8k", "TCP, inf", "TCP, 8k"})
    void everyByteArrivesAndNothingIsLeft(Lane lane, String threshold) throws Exception {
        long seed = SEED != null ? SEED : new SplittableRandom().nextLong() >>> 1;
        // The bundled UCX: earlier releases make no rendezvous.
        run(lane, threshold, "with -Dio.github.nettyucx.test.seed=" + seed, "-Xmx512m", seed + "", TRANSFERS + "");
    }

    /** By the operations on memory that the loop has registered: a copy is one, and the application's buffer is not. */
    @ParameterizedTest
    @CsvSource({"SHM, 65536", "SHM, 20000", "TCP, 20000"})
    void whatIsSmallerThanTheBoundIsCopiedAndWhatIsNotIsSentFromWhereItLies(Lane lane, int bound) throws Exception {
        run(lane, "inf", "with this bound", "-Dio.github.nettyucx.registrationMin=" + bound, bound + "");
    }

    private static void run(Lane lane, String threshold, String what, String option, String... arguments)
            throws Exception {
        ProcessBuilder program = new ProcessBuilder(LaneJvm.command(lane, List.of(option,
                "-Dio.github.nettyucx.registration=always"), RegisteredMain.class, arguments));
        program.environment().put("UCX_RNDV_THRESH", threshold);
        Process process = program.redirectErrorStream(true).start();
        String output;
        try {
            output = new String(process.getInputStream().readAllBytes());
        } finally {
            process.destroyForcibly();
        }
        assertEquals(0, process.waitFor(), () -> what + ": " + output);
        assertTrue(output.lines().anyMatch(RegisteredMain.PASSED::equals), output);
    }
}
