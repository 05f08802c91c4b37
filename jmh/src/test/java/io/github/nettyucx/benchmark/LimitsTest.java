// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ChildProcess;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a scenario takes fits into what is waited for it. */
class LimitsTest {
    private static final int WARMUP = 10;
    /** Round trips of two that share a processor: each waits for a turn of the scheduler's. */
    private static final double SLOW_SECONDS = 0.01;
    private static final double SLOW_BYTES = 20e6;

    private static Scenario scenario(Work work, int size, int connections, long operations, double seconds) {
        return new Scenario(work, size, connections, connections, 1, 1, 0, operations, seconds, null, null);
    }

    /** All that the command line takes. */
    @ParameterizedTest
    @ValueSource(doubles = {0.01, 1, 10, 55, 90, 600, 3600})
    void theTrialAndTheMeasurementFit(double seconds) {
        var scenario = scenario(Work.LATENCY, 16, 1, 0, seconds);
        var tried = Calibration.COMPILED_BEFORE * seconds + seconds / WARMUP;
        assertTrue(Limits.ready(scenario) > 60 + 1.2 * tried, Limits.ready(scenario) + " s for " + tried);
        assertTrue(Limits.measured(scenario) > 60 + 2 * seconds, Limits.measured(scenario) + " s for " + seconds);
    }

    @ParameterizedTest
    @CsvSource({"16, 1, 500", "16, 1, 10000000000", "1048576, 1, 1000000", "16, 100, 1000000", "65536, 1000, 10000000000"})
    void soDoOperations(int size, int connections, long operations) {
        var scenario = scenario(Work.THROUGHPUT, size, connections, operations, 1);
        var taken = operations * connections * (SLOW_SECONDS + size / SLOW_BYTES);
        assertTrue(Limits.measured(scenario) > taken, Limits.measured(scenario) + " s for " + taken);
        assertTrue(Limits.ready(scenario) > taken / WARMUP, Limits.ready(scenario) + " s for " + taken / WARMUP);
    }

    /** Of some works the connections are made before the measurement, of others within it. */
    @ParameterizedTest
    @EnumSource(names = {"MANY", "MEMORY", "IDLE"})
    void soDoManyConnections(Work work) {
        var few = scenario(work, 16, 1, 0, 1);
        var many = scenario(work, 16, 10_000, 0, 1);
        assertTrue(Limits.ready(many) >= Limits.ready(few) + 100);
        assertTrue(Limits.measured(many) >= Limits.measured(few) + 100);
    }

    /** Says one word. */
    static final class Talking {
        public static void main(String[] arguments) throws Exception {
            System.out.println(Child.READY);
            System.in.readAllBytes();
        }
    }

    @Test
    @Timeout(60)
    void whatNoClockCountsToIsALimitAsWell() throws Exception {
        var looks = new AtomicInteger();
        try (var child = ChildProcess.start("the child", Talking.class, List.of(), Child::isReport)) {
            assertEquals("", Pair.await(child, Child.READY, Long.MAX_VALUE, looks::incrementAndGet));
        }
        assertTrue(looks.get() > 0);
    }
}
