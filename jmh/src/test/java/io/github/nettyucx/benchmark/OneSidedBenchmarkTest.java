// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AbstractHistogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Operations on a peer's memory: what is counted has been done. How long that took means nothing here. */
@Timeout(60)
class OneSidedBenchmarkTest {
    private static final int SIZE = 8;
    /** More than a loop does at a time, and no multiple of what may be under way. */
    private static final long OPERATIONS = 20_001;

    private final EventLoopGroup group = TransportKind.UCX.newEventLoopGroup(1);

    @AfterEach
    void endLoop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    /** As {@link OneSidedClient} begins, but that it looks at what the server has done, too. */
    private static final class Peer extends OneSidedPeer {
        private final CompletableFuture<OneSidedOperations> ready = new CompletableFuture<>();
        private final List<Long> notifications = new ArrayList<>();
        private OneSidedOperations operations;
        private long received;

        Peer(OneSided.Plan plan) {
            super(plan);
        }

        @Override
        void opened(OneSidedOperations opened) {
            operations = opened;
            readyIfBoth();
        }

        @Override
        void notified(long value) {
            notifications.add(value);
            if (ready.isDone()) {
                operations.answered();
            } else {
                readyIfBoth();
            }
        }

        private void readyIfBoth() {
            if (operations != null && !notifications.isEmpty()) {
                ready.complete(operations);
            }
        }

        @Override
        void received(ChannelHandlerContext context, int bytes) {
            received += bytes;
            operations.received(bytes);
        }

        @Override
        void failed(Throwable cause) {
            ready.completeExceptionally(cause);
        }
    }

    private static Scenario scenario(Work work) {
        return new Scenario(work, SIZE, 1, 1, 1, 1, 0, OPERATIONS, 0, null, null);
    }

    private static OneSided.Plan plan(OneSided.Kind kind, Work work) {
        return new OneSided.Plan(scenario(work), kind, new Setting(TransportKind.UCX, Lane.AUTO, null));
    }

    /** Has all operations done. */
    private Peer run(OneSided.Plan plan, AbstractHistogram durations) throws Exception {
        try (var server = OneSidedServer.start(plan)) {
            var peer = new Peer(plan);
            var channel = new Bootstrap().group(group).channel(TransportKind.UCX.socketChannel()).handler(peer)
                    .connect(server.address().resolve()).sync().channel();
            var operations = peer.ready.get();
            var end = new CompletableFuture<Throwable>();
            channel.eventLoop().execute(() -> {
                if (plan.scenario().work() == Work.BIDIRECTIONAL) {
                    operations.startBoth(OPERATIONS, end::complete);
                } else {
                    operations.start(OPERATIONS, durations, end::complete);
                }
            });
            var failure = end.get();
            if (failure != null) {
                throw new AssertionError(failure);
            }
            // Behind what has come with the last answer.
            channel.eventLoop().submit(() -> { }).sync();
            look(peer);
            channel.close().sync();
            return peer;
        }
    }

    private byte first;

    /** While the memory is there. */
    private void look(Peer peer) {
        first = peer.memory.segment().get(ValueLayout.JAVA_BYTE, 0);
    }

    private static List<Arguments> all() {
        var all = new ArrayList<Arguments>();
        for (var work : List.of(Work.LATENCY, Work.THROUGHPUT, Work.BIDIRECTIONAL)) {
            for (var kind : OneSided.Kind.values()) {
                if (kind.knows(scenario(work))) {
                    all.add(Arguments.of(kind, work));
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("all")
    void eachOperationYieldsItsFigures(OneSided.Kind kind, Work work) throws Exception {
        var plan = plan(kind, work);
        try (var server = OneSidedServer.start(plan);
             var client = new OneSidedClient(plan, server.address(), ProcessHandle.current().pid(), () -> { })) {
            var before = server.state();
            assertYields(Pair.combine(plan.scenario(), client.measure(), before, server.state()), work, "sysv|posix");
        }
    }

    /** Where the owner's loop executes them, which takes another process: lanes are a matter of the whole process. */
    @ParameterizedTest
    @CsvSource({"PUT, BIDIRECTIONAL", "GET, THROUGHPUT", "PUT_AND_NOTIFY, THROUGHPUT", "PUT, LATENCY"})
    void operationsThatTheOwnerExecutesYieldTheirs(OneSided.Kind kind, Work work) throws Exception {
        assertYields(new OneSided(kind, Lane.TCP).measure(scenario(work), new Interruption()), work, "tcp");
    }

    private static void assertYields(Sample sample, Work work, String lane) {
        assertTrue(sample.lane().matches(lane), sample.lane());
        assertEquals(work == Work.BIDIRECTIONAL ? 2 * OPERATIONS : OPERATIONS, sample.operations());
        assertEquals(sample.operations() / sample.seconds(), sample.figures().get(Metric.RATE), 1);
        for (var metric : work.metrics()) {
            assertTrue(Double.isFinite(sample.figures().get(metric)), sample.toString());
        }
        if (work != Work.LATENCY) {
            assertTrue(sample.figures().get(Metric.CLIENT_CPU) > 0, sample.toString());
        }
    }

    @Test
    void bothSidesPutAtATime() throws Exception {
        var peer = run(plan(OneSided.Kind.PUT, Work.BIDIRECTIONAL), null);
        assertEquals(OneSidedPeer.FILLING, first, "the server has put nothing");
        assertEquals(List.of(OneSidedOperations.ANSWER, OneSidedOperations.ANSWER), peer.notifications,
                "one notification for its beginning and one for its end");
    }

    @Test
    void onlyTheLastOfManyNotificationsIsAnswered() throws Exception {
        assertEquals(2, run(plan(OneSided.Kind.PUT_AND_NOTIFY, Work.THROUGHPUT), null).notifications.size());
        assertEquals(OneSidedPeer.FILLING, first, "the server's answer has no bytes");
    }

    @Test
    void eachNotificationIsAnsweredIfTheDurationOfEachCounts() throws Exception {
        var durations = Durations.newHistogram();
        var peer = run(plan(OneSided.Kind.PUT_AND_NOTIFY, Work.LATENCY), durations);
        assertEquals(1 + OPERATIONS, peer.notifications.size());
        assertEquals(OPERATIONS, durations.getTotalCount());
    }

    @ParameterizedTest
    @EnumSource(names = {"LATENCY", "THROUGHPUT"})
    void eachRequestIsAnsweredByAsManyBytes(Work work) throws Exception {
        var peer = run(plan(OneSided.Kind.REQUEST, work), Durations.newHistogram());
        assertEquals(OPERATIONS * SIZE, peer.received);
    }
}
