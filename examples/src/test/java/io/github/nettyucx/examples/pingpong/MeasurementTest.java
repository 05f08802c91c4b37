// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class MeasurementTest {
    @Test
    void turnsNanosecondsIntoMicroseconds() {
        var nanos = new Histogram(3);
        nanos.recordValueWithCount(1000, 98);
        nanos.recordValueWithCount(2000, 2);
        var measured = Measurement.of(new Setting(TransportKind.NIO, Lane.AUTO, null), "tcp",
                ResultTableTest.NIO.load(), nanos, 50_000);
        assertEquals(1.0, measured.rtt().min());
        assertEquals(1.0, measured.rtt().p50(), 0.001);
        assertEquals(2.0, measured.rtt().p99(), 0.002);
        assertEquals(2.0, measured.rtt().max(), 0.002);
        assertEquals(1.02, measured.rtt().mean(), 0.002);
        assertEquals(2_000_000, measured.roundTripsPerSecond());
        assertEquals("default", measured.waitMode());
    }
}
