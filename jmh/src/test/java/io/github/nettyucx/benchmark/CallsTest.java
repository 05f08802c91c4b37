// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Security;
import io.github.nettyucx.examples.SelfSignedCertificate;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls of gRPC, and connections with TLS. In this process: how two are joined is the same for all works. */
class CallsTest {
    private static final int OPERATIONS = 50;

    private static SelfSignedCertificate certificate;

    @BeforeAll
    static void makeCertificate() throws InterruptedException {
        certificate = SelfSignedCertificate.create();
    }

    @AfterAll
    static void deleteCertificate() {
        certificate.close();
    }

    @ParameterizedTest
    @CsvSource({
        "GRPC_UNARY,  1, DIRECT,  PLAINTEXT, UCX",
        "GRPC_UNARY,  8, DEFAULT, PLAINTEXT, UCX",
        "GRPC_UNARY,  8, DIRECT,  TLS,       UCX",
        "GRPC_UNARY,  1, DEFAULT, TLS,       EPOLL",
        "GRPC_STREAM, 1, DIRECT,  PLAINTEXT, UCX",
        "GRPC_STREAM, 2, DEFAULT, TLS,       UCX",
        "GRPC_STREAM, 1, DIRECT,  PLAINTEXT, EPOLL"})
    void callsAreCountedAndTimed(Work work, int atATime, CallExecutor executor, Security security,
                                 TransportKind transport) throws Exception {
        var sample = calls(task(calls(work, atATime).with(executor).with(security), transport));
        assertEquals((long) OPERATIONS * atATime, sample.operations());
        assertTrue(sample.lane().matches(transport == TransportKind.UCX ? "sysv|posix" : "tcp"), sample.lane());
        assertTrue(sample.software().matches("gRPC \\d+\\.\\d+.*"), sample.software());
        var p50 = sample.figures().get(Metric.P50);
        // No call is shorter than none, and all of those that are under way at a time fit into the whole.
        assertTrue(p50 > 0 && p50 <= sample.seconds() * 1e6, sample.toString());
        assertEquals(sample.operations() / sample.seconds(), sample.figures().get(Metric.RATE), 1e-6);
    }

    /** Otherwise the rows with TLS would be rows without it. */
    @ParameterizedTest
    @CsvSource({"GRPC_UNARY", "LATENCY"})
    void aClientWithoutTlsGetsNothingFromAServerWithIt(Work work) throws Exception {
        var scenario = work.isOfCalls() ? calls(work, 1) : exchange(work, 16);
        var encrypted = task(scenario.with(Security.TLS), TransportKind.EPOLL);
        var plain = task(scenario, TransportKind.EPOLL);
        if (work.isOfCalls()) {
            try (var server = CallServer.start(encrypted); var client = client(plain, server.address())) {
                assertThrows(ExampleFailure.class, client::measure);
            }
        } else {
            try (var server = BenchmarkServer.start(encrypted); var client = client(plain, server.address())) {
                assertThrows(ExampleFailure.class, client::measure);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"LATENCY, 16", "LATENCY, 65536", "THROUGHPUT, 16", "THROUGHPUT, 65536", "BIDIRECTIONAL, 1024"})
    void messagesAreEncrypted(Work work, int size) throws Exception {
        var task = task(exchange(work, size).with(Security.TLS), TransportKind.UCX);
        var barriers = new AtomicInteger();
        try (var server = BenchmarkServer.start(task);
             var client = new BenchmarkClient(task, server.address(), ProcessHandle.current().pid(),
                     barriers::incrementAndGet)) {
            var sample = client.measure().sample();
            assertEquals(1, barriers.get());
            assertTrue(sample.lane().matches("sysv|posix"), sample.lane());
            assertTrue(sample.figures().get(work.headline()) > 0, sample.toString());
        }
    }

    @Test
    void aScenarioTellsWhatItIs() {
        var scenario = calls(Work.GRPC_UNARY, 32).with(CallExecutor.DEFAULT).with(Security.TLS);
        assertEquals("grpc-unary 100 B, 32 at a time, default executor, tls", scenario.toString());
        var exchange = exchange(Work.LATENCY, 16);
        assertEquals("latency 16 B, 1 connection, tls", exchange.with(Security.TLS).toString());
        assertFalse(exchange.equals(exchange.with(Security.TLS)));
        assertFalse(Perftest.knows(exchange.with(Security.TLS), Lane.SHM));
    }

    private static Sample calls(Task task) throws Exception {
        try (var server = CallServer.start(task); var client = client(task, server.address())) {
            return client.measure().sample();
        }
    }

    private static MeasuredClient client(Task task, HostAndPort server) throws InterruptedException {
        var pid = ProcessHandle.current().pid();
        return task.scenario().work().isOfCalls() ? new CallClient(task, server, pid, () -> { })
                : new BenchmarkClient(task, server, pid, () -> { });
    }

    private static Task task(Scenario scenario, TransportKind transport) {
        return new Task(scenario, new Setting(transport, Lane.AUTO, null),
                scenario.isPlain() ? null : certificate.directory().toString());
    }

    private static Scenario calls(Work work, int atATime) {
        return new Scenario(work, 100, 1, atATime, 1, 1, 0, OPERATIONS, 0.05, null, null).with(CallExecutor.DIRECT);
    }

    private static Scenario exchange(Work work, int size) {
        return new Scenario(work, size, 1, 1, 1, work == Work.LATENCY ? 1 : 4, 0, OPERATIONS, 0.05, null, null);
    }
}
