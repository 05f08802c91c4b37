// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ByteSize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadTest {
    @ParameterizedTest
    @CsvSource({"1, 1, 99000", "1k, 1, 97000", "1m, 1, 3200", "16, 100, 4900", "1g, 1, 10", "1m, 100000, 10"})
    void makesFewerRoundTripsTheLongerTheyTake(String size, int connections, long iterations) {
        assertEquals(iterations, Workload.defaultIterations(ByteSize.parse(size), connections));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "10, 1", "11, 2", "1000, 100"})
    void warmsUpForATenth(long iterations, long warmup) {
        assertEquals(warmup, Workload.defaultWarmup(iterations));
    }

    @Test
    void countsTheRoundTripsOfAllConnections() {
        assertEquals(330, new Workload(new ByteSize(1), 3, 1, 100, 10).totalRounds());
        assertTrue(new Workload(new ByteSize(1), 100_000, 1, 10_000_000_000L, 0).totalRounds() > 0);
    }
}
