// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.ExampleProcess;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Progress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The example as a user runs it; what it checks about gRPC is in {@code CallChecks}. */
@Timeout(240)
class GrpcCallsTest {
    private static final HostAndPort ANY_LOCAL_PORT = new HostAndPort("127.0.0.1", 0);
    private static final long PATIENCE_SECONDS = 30;

    private static String[] briefly(String... arguments) {
        return Stream.concat(Stream.of(arguments), Stream.of("--calls", "50", "--warmup", "10", "--concurrency", "8"))
                .toArray(String[]::new);
    }

    private static long rows(String out, String start) {
        return Pattern.compile("^" + start, Pattern.MULTILINE).matcher(out).results().count();
    }

    /** Without TLS is what the next one is about. */
    @Test
    void checksAndComparesBothTransportsWithTls() throws Exception {
        var out = ExampleProcess.run(GrpcCalls.class, briefly("--security", "tls")).assertClean().out();
        for (var name : CallChecks.names()) {
            assertTrue(out.contains("\n  " + name + "\n"), out);
        }
        assertEquals(1, rows(out, "ucx +(sysv|posix) +TLS( +[\\d,.]+){7} .*×.*×"), out);
        assertEquals(1, rows(out, "default +tcp +TLS( +[\\d,.]+){7} "), out);
    }

    @Test
    void runsBetweenTwoProcessesWithoutTlsOverTcpLanesOnTheEventLoops() throws Exception {
        try (var server = ExampleProcess.start(GrpcCalls.class, "--server", "[::1]:0", "--lane", "tcp", "--direct")) {
            var out = ExampleProcess.run(GrpcCalls.class, briefly("--connect", server.address(), "--lane", "tcp",
                    "--direct", "--size", "3k")).assertClean().out();
            assertEquals(1, rows(out, "ucx +tcp +plaintext( +[\\d,.]+){7}$"), out);
            server.process().toHandle().destroy();
            assertEquals("", server.outcome().err());
        }
    }

    @Test
    void measuresWithoutAWarmUp() throws Exception {
        try (var server = GrpcServer.start(GrpcTransport.DEFAULT, ANY_LOCAL_PORT, null, null, true)) {
            var result = measure(server.address(), 0, PATIENCE_SECONDS);
            assertTrue(result.callsPerSecond() > 0 && result.concurrentCallsPerSecond() > 0, result.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void givesUpOnAServerThatNeverAnswers(long warmup) throws Exception {
        try (var silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            var server = new HostAndPort("127.0.0.1", silent.getLocalPort());
            var failure = assertThrows(ExampleFailure.class, () -> measure(server, warmup, 1));
            assertEquals("no call ended for 1 s, 0 of " + (warmup == 0 ? 50 : warmup) + " were done",
                    failure.getMessage());
        }
    }

    private static GrpcResult measure(HostAndPort server, long warmup, long stallSeconds) throws Exception {
        return new CallMeasurement(new GrpcLoad(new ByteSize(16), 50, warmup, 8, true), stallSeconds)
                .measure(server, GrpcTransport.DEFAULT, null, Progress.SILENT);
    }

    @Test
    void leavesNoKeyBehindWhenItIsStopped(@TempDir Path directory) throws Exception {
        try (var comparison = ExampleProcess.startWith(List.of("-Djava.io.tmpdir=" + directory), GrpcCalls.class,
                "--security", "tls", "--transport", "default", "--calls", "1000000000")) {
            while (keys(directory).stream().noneMatch(each -> Files.exists(each.resolve("key.pem")))) {
                assertTrue(comparison.process().isAlive());
                TimeUnit.MILLISECONDS.sleep(20);
            }
            comparison.process().toHandle().destroy();
            comparison.outcome();
            assertEquals(List.of(), keys(directory));
        }
    }

    /** The directories that have some, or are to have some. */
    private static List<Path> keys(Path directory) throws IOException {
        var found = new ArrayList<Path>();
        try (var directories = Files.newDirectoryStream(directory, "netty-ucx-example-*")) {
            directories.forEach(found::add);
        }
        return found;
    }

    @Test
    void refusesAFileThatIsNoCertificate(@TempDir Path directory) throws Exception {
        var file = Files.writeString(directory.resolve("cert.pem"), "not PEM").toString();
        ExampleProcess.run(GrpcCalls.class, "--server", "127.0.0.1:0", "--cert", file, "--key", file)
                .assertFailed(1).assertSaid("grpc: cannot ");
    }

    @Test
    void saysSoWhenNobodyListens() throws Exception {
        var outcome = ExampleProcess.run(GrpcCalls.class, "--connect", "127.0.0.1:1").assertFailed(1);
        outcome.assertSaid("grpc: the check 'unary calls");
        assertTrue(outcome.err().contains("Connection refused"), outcome.err());
    }
}
