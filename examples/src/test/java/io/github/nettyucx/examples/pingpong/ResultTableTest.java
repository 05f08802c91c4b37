// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.pingpong.Measurement.RoundTripTimes;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResultTableTest {
    static final Measurement UCX = new Measurement(TransportKind.UCX, "sysv", "spin", "UCX 1.22.0",
            new Workload(new ByteSize(16), 1, 1, 1000, 100), 1_234_567.8,
            new RoundTripTimes(0.7, 0.812, 0.8, 1.25, 12.5, 99.125));
    static final Measurement NIO = new Measurement(TransportKind.NIO, "tcp", "default", "Netty 4.1",
            new Workload(new ByteSize(16), 1, 1, 1000, 100), 11_904.3,
            new RoundTripTimes(60, 84, 82, 120.5, 1234.567, 2000));

    @Test
    void alignsColumnsAndComparesWithNio() {
        assertEquals("""
                transport  lane  size  connections  round trips/s  RTT mean µs  p50 µs  p99 µs  p99.9 µs  p50 to nio
                ─────────  ────  ────  ───────────  ─────────────  ───────────  ──────  ──────  ────────  ─────────────
                ucx        sysv  16 B            1      1,234,568         0.81    0.80    1.25     12.50  102.5× faster
                nio        tcp   16 B            1         11,904        84.00   82.00  120.50  1,234.57  –
                """, ResultTable.render(List.of(UCX, NIO)));
    }

    @Test
    void leavesTheComparisonOutWhenThereIsNothingToCompareWith() {
        assertEquals("""
                transport  lane  size  connections  round trips/s  RTT mean µs  p50 µs  p99 µs  p99.9 µs
                ─────────  ────  ────  ───────────  ─────────────  ───────────  ──────  ──────  ────────
                ucx        sysv  16 B            1      1,234,568         0.81    0.80    1.25     12.50
                """, ResultTable.render(List.of(UCX)));
    }

    @Test
    void saysSlowerOfWhatIsSlower() {
        var slow = new Measurement(TransportKind.EPOLL, "tcp", "default", "Netty 4.1", NIO.load(), 1,
                new RoundTripTimes(1, 123, 123, 123, 123, 123));
        assertEquals("1.5× slower",
                ResultTable.render(List.of(NIO, slow)).lines().toList().getLast().replaceAll(".*  ", ""));
    }
}
