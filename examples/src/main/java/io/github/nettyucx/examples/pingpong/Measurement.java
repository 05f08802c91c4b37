// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import org.HdrHistogram.AbstractHistogram;

/**
 * One row of the result.
 *
 * @param lane what carried the bytes, for example {@code sysv} or {@code tcp}
 * @param waitMode how the event loops waited, or {@code default}
 * @param software the transport's software and version
 * @param roundTripsPerSecond of all connections together
 * @param rtt round trip times
 */
record Measurement(TransportKind transport, String lane, String waitMode, String software, Workload load,
                   double roundTripsPerSecond, RoundTripTimes rtt) {

    /** All in microseconds. */
    record RoundTripTimes(double min, double mean, double p50, double p99, double p999, double max) {
        private static RoundTripTimes of(AbstractHistogram nanos) {
            return new RoundTripTimes(micros(nanos.getMinValue()), micros(nanos.getMean()),
                    micros(nanos.getValueAtPercentile(50)), micros(nanos.getValueAtPercentile(99)),
                    micros(nanos.getValueAtPercentile(99.9)), micros(nanos.getMaxValue()));
        }

        private static double micros(double nanos) {
            return Math.round(nanos) / 1000.0;
        }
    }

    /**
     * @param nanos histogram of all measured round trips
     * @param duration of the measured part, in nanoseconds
     */
    static Measurement of(Setting setting, String lane, Workload load, AbstractHistogram nanos, long duration) {
        return new Measurement(setting.transport(), lane,
                setting.waitMode() == null ? "default" : setting.waitMode().toString(),
                setting.transport().software(), load,
                Math.round(nanos.getTotalCount() * 1e10 / duration) / 10.0, RoundTripTimes.of(nanos));
    }
}
