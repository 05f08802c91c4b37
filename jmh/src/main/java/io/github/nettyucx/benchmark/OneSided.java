// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Operations on a peer's memory, on one connection. */
record OneSided(Kind kind, Lane lanes) implements Contender {

    /** Which. Of latency one is under way at a time, else up to {@link OneSidedOperations#WINDOW}. */
    enum Kind {
        /** Of latency with a flush behind it, which is done when the bytes are where the owner sees them. */
        PUT(null, "ucp_put_bw"),
        /** Of latency there and back: the server, when it is notified, puts as many bytes with a notification. */
        PUT_AND_NOTIFY("ucp_put_lat", null),
        GET("ucp_get", "ucp_get"),
        /** What a get saves: a message over the stream, which the owner's handler answers with as many bytes. */
        REQUEST(null, null),
        FETCH_AND_ADD("ucp_fadd", "ucp_fadd"),
        COMPARE_AND_SWAP("ucp_cswap", "ucp_cswap");

        private final String latencyLimit;
        private final String throughputLimit;

        Kind(String latencyLimit, String throughputLimit) {
            this.latencyLimit = latencyLimit;
            this.throughputLimit = throughputLimit;
        }

        boolean isAtomic() {
            return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
        }

        /** Of {@code ucx_perftest}, the test that does the same; {@code null} if there is none. */
        String limit(Work work) {
            return switch (work) {
                case LATENCY -> latencyLimit;
                case THROUGHPUT -> throughputLimit;
                default -> null;
            };
        }

        boolean knows(Scenario scenario) {
            return (!isAtomic() || scenario.size() == Long.BYTES)
                    && (scenario.work() != Work.BIDIRECTIONAL || this == PUT || this == GET);
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /** Whose argument this is as JSON. */
    record Plan(Scenario scenario, Kind kind, Setting setting) {
    }

    @Override
    public String name() {
        return kind.toString();
    }

    @Override
    public String lane() {
        return lanes.toString();
    }

    @Override
    public String waitMode() {
        return WaitMode.ADAPTIVE.toString();
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        var plan = new Plan(scenario, kind, new Setting(TransportKind.UCX, lanes, WaitMode.ADAPTIVE));
        return Pair.measure(name(), scenario, interruption, (role, cpus, more) -> {
            var arguments = new ArrayList<>(List.of(role, Json.LINE.toJson(plan)));
            arguments.addAll(more);
            return ChildProcess.start("the " + name() + " " + role, NettyContender.launcher(cpus),
                    NettyContender.JVM_OPTIONS, OneSidedChild.class, arguments, Child::isReport);
        });
    }
}
