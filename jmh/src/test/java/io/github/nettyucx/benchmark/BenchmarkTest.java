// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;

/** The instrument, and how a user runs it: in a process of its own. What it measures here is too short to mean anything. */
class BenchmarkTest {
    private static final long END_SECONDS = 180;
    private static final int CONNECTIONS = 3;

    @TempDir
    private Path directory;

    private record Outcome(int exitCode, String out, String err) {
    }

    /** In this process: how two of them are joined is the next test's matter, and the same for all works. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"START", "START_AOT",
        "FIRST_LATENCY", "FIRST_THROUGHPUT", "GRPC_UNARY", "GRPC_STREAM", "MESSAGES", "MESSAGE_CALLS",
        "ALL_TO_ALL", "APPLICATIONS"})
    void eachWorkYieldsItsFigures(Work work) throws Exception {
        var active = work == Work.MANY ? 1 : CONNECTIONS;
        var scenario = new Scenario(work, 16, CONNECTIONS, active, 1, 4, 0, 0, 0.05, null, null);
        var task = new Task(scenario, new Setting(TransportKind.UCX, Lane.AUTO, null));
        try (var server = BenchmarkServer.start(task);
             var client = new BenchmarkClient(task, server.address(), ProcessHandle.current().pid(), () -> { })) {
            var before = server.state();
            var sample = Pair.combine(scenario, client.measure(), before, server.state());
            assertTrue(sample.lane().matches("sysv|posix"), sample.lane());
            for (var metric : work.metrics()) {
                assertTrue(Double.isFinite(sample.figures().get(metric)), sample.toString());
            }
            assertTrue(work == Work.MEMORY || work == Work.IDLE || sample.figures().get(work.headline()) > 0,
                    sample.toString());
        }
    }

    /** The rows name it. */
    @ParameterizedTest
    @EnumSource
    @NullSource
    void aProcessThatStartsWaitsAsItIsTold(WaitMode waitMode) {
        var setting = new Setting(TransportKind.UCX, Lane.SOCKET, waitMode);
        assertEquals(setting, Starter.setting(Starter.arguments(Starter.SERVER, setting).toArray(String[]::new)));
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "START_AOT"})
    void aStartYieldsItsFigures(Work work) throws Exception {
        var setting = new Setting(TransportKind.UCX, Lane.SHM, null);
        var scenario = new Scenario(work, 16, 1, 1, 1, 1, 0, 0, 0, null, null);
        var sample = new Starts(setting, setting, scenario, new Interruption()).measure();
        assertTrue(sample.lane().matches("sysv|posix"), sample.lane());
        for (var metric : Work.START.metrics()) {
            assertTrue(sample.figures().get(metric) > 1, sample.toString());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FIRST_LATENCY", "FIRST_THROUGHPUT"})
    void aFirstSecondYieldsItsFigures(Work work) throws Exception {
        var setting = new Setting(TransportKind.UCX, Lane.SHM, null);
        var scenario = new Scenario(work, 16, 1, 1, 1, 4, 0, 0, 0, null, null);
        var sample = new FirstSeconds(setting, setting, scenario, new Interruption()).measure();
        assertTrue(sample.lane().matches("sysv|posix"), sample.lane());
        for (var metric : work.metrics()) {
            // The first of all round trips may take longer than the first 100 ms.
            var least = metric == Metric.EARLY_RATE ? 0 : 1;
            assertTrue(sample.figures().get(metric) >= least, sample.toString());
        }
    }

    @Test
    void latencyIsComparedAndWritten() throws Exception {
        var json = directory.resolve("result.json");
        var page = directory.resolve("report");
        var pictures = directory.resolve("pictures");
        var outcome = run("latency", "--transport", "ucx,nio", "--size", "16,32", "--connections", "3", "--active", "2",
                "--loops", "2", "--operations", "500", "--rounds", "1", "--json", json.toString(),
                "--report", page.toString(), "--svg", pictures.toString());
        assertEquals(0, outcome.exitCode, outcome.toString());
        assertTrue(outcome.out.contains("latency 16 B, 3 connections, 2 active, 2 loops"), outcome.out);
        assertTrue(outcome.out.lines().findFirst().orElseThrow().endsWith("to nio (p50, p99, p99.9)"), outcome.out);
        assertTrue(outcome.err.contains("round 1 of 1: nio, latency 32 B"), outcome.err);

        var result = Json.FILE.fromJson(Files.readString(json), JsonObject.class);
        assertTrue(result.get("complete").getAsBoolean());
        assertEquals(4, result.getAsJsonArray("results").size());
        for (var row : result.getAsJsonArray("results")) {
            var rounds = row.getAsJsonObject().getAsJsonArray("rounds");
            assertEquals(1, rounds.size());
            assertEquals(1000, rounds.get(0).getAsJsonObject().get("operations").getAsLong());
            assertTrue(rounds.get(0).getAsJsonObject().getAsJsonObject("percentiles").has("99.9"));
        }
        assertTrue(Files.readString(pictures.resolve("latency.svg")).contains("<svg "), "no picture");
        var html = Files.readString(page.resolve("index.html"));
        assertTrue(html.contains("Percentiles: latency 16 B, 3 connections"), "no percentiles");
        assertTrue(html.contains("p50 µs over message size"), "no chart over sizes");
        assertTrue(html.contains("Chart.js v"), "no library");
        assertFalse(html.contains("@CHART"), "a place was not filled in");
        assertFalse(html.contains("src="), "the page needs other files");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "latency --size 16,x                   | 'x' is not a size",
        "latency --connections 0               | '0' will not do",
        "latency --active 2                    | --active 2 is more than --connections 1",
        "latency --pin 0                       | '0' does not name processors",
        "latency --pin 0:4095                  | this process cannot use processors 4095",
        "latency --transport nio --lane tcp    | --lane is about ucx",
        "latency --flush 3                     | Unknown options: '--flush'",
        "start --loops 2                       | Unknown options: '--loops'",
        "first-second --rcvbuf 64k             | Unknown options: '--rcvbuf'",
        "grpc-unary --rcvbuf 64k               | Unknown options: '--rcvbuf'",
        "messaging --plain                     | Unknown option: '--plain'",
        "messaging --aeron                     | Unknown option: '--aeron'",
        "connect --aeron                       | --aeron is about latency and throughput",
        "latency --aeron --tls                 | --aeron is about latency and throughput",
        "fairness --connections 1              | leaves nobody to be treated fairly",
        "throughput --seconds 0                | --seconds 0.0 is out of range",
        "throughput --json /no/such/directory  | cannot be written",
        "all --only speed                      | 'speed' is no work",
        "grpc-unary --executor many            | 'many' is not one of its values",
        "one-sided --work connect              | --work takes latency, throughput and bidirectional here",
        "one-sided --lane shm,socket           | there is no access to a peer's memory",
        "latence                               | Unmatched argument"})
    void wrongArgumentsAreExplained(String arguments, String reason) {
        var stderr = System.err;
        var captured = new ByteArrayOutputStream();
        System.setErr(new PrintStream(captured, true, StandardCharsets.UTF_8));
        int exitCode;
        try {
            exitCode = ExampleRunner.run("./run-benchmark.sh", "run-benchmark.sh", new Benchmark(),
                    arguments.strip().split(" +"));
        } finally {
            System.setErr(stderr);
        }
        var err = captured.toString(StandardCharsets.UTF_8);
        assertEquals(2, exitCode, err);
        assertTrue(err.startsWith("run-benchmark.sh: ") && err.contains(reason), err);
        assertTrue(err.contains("--help'."), err);
    }

    @Test
    void anInterruptedRunTellsWhatWasMeasured() throws Exception {
        var json = directory.resolve("result.json");
        var process = start("latency", "--transport", "nio", "--size", "16", "--rounds", "100", "--operations", "100",
                "--json", json.toString());
        try (var err = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            String line;
            do {
                line = err.readLine();
            } while (line != null && !line.startsWith("round 2 of 100"));
            assertEquals(0, new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor());
            var rest = new StringBuilder();
            err.lines().forEach(more -> rest.append(more).append('\n'));
            var out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(END_SECONDS, TimeUnit.SECONDS));
            assertEquals(130, process.exitValue());
            assertTrue(rest.toString().contains("Interrupted"), rest.toString());
            assertTrue(out.matches("(?s).* nio .*\\d+\\.\\d\\d .*"), out);
            var result = Json.FILE.fromJson(Files.readString(json), JsonObject.class);
            assertFalse(result.get("complete").getAsBoolean());
            assertTrue(result.getAsJsonArray("results").get(0).getAsJsonObject().getAsJsonArray("rounds").size() >= 1);
        } finally {
            process.destroyForcibly();
        }
    }

    private static Outcome run(String... arguments) throws Exception {
        var process = start(arguments);
        try (var err = process.errorReader(StandardCharsets.UTF_8)) {
            var said = new StringBuilder();
            var reader = Thread.ofPlatform().start(() -> err.lines().forEach(line -> said.append(line).append('\n')));
            var out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(END_SECONDS, TimeUnit.SECONDS), "it does not end");
            reader.join();
            return new Outcome(process.exitValue(), out, said.toString());
        } finally {
            process.destroyForcibly();
        }
    }

    private static Process start(String... arguments) throws Exception {
        // Who has been started in the background of a script ignores SIGINT, and so do all children.
        var command = new ArrayList<>(List.of("env", "--default-signal=INT",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8",
                "-cp", System.getProperty("java.class.path"), Benchmark.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).start();
    }
}
