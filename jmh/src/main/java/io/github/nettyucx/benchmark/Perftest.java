// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.library.UcxEnvironment;
import io.github.nettyucx.library.UcxLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * {@code ucx_perftest}, which comes with UCX: what UCX reaches in C, without Netty, Java or a byte stream. One
 * connection, one message per call.
 */
record Perftest(Lane lanes, Path home, String test) implements Contender {
    /** Where the build puts UCX; set by the script. */
    static final String HOME = "io.github.nettyucx.benchmark.ucx";

    /**
     * As this transport's endpoints do. Without it UCX takes a lane that cannot tell of a peer's death: {@code cma}, which
     * copies once instead of twice.
     */
    private static final String NOTICES_FAILURES = "-e";
    private static final long POLL_MILLIS = 50;
    private static final long START_MILLIS = 5_000;
    private static final int START_ATTEMPTS = 5;
    private static final int LEAST_PORT = 15_000;
    private static final int MOST_PORT = 32_000;
    private static final int WARMUP = 10;
    /** Tests that measure half of the way there and back end so. */
    private static final String HALF = "_lat";
    private static final List<String> ATOMICS = List.of("ucp_fadd", "ucp_cswap", "ucp_add", "ucp_swap");
    /** Fields of the last line of {@code -v -f}: iterations, then these. */
    private static final int PERCENTILE_LATENCY = 1;
    private static final int OVERALL_RATE = 7;
    private static final int FIELDS = 8;

    /** The test of tagged messages that fits the work. */
    Perftest(Lane lanes, Path home) {
        this(lanes, home, null);
    }

    @Override
    public String name() {
        return "ucx_perftest" + (test == null ? "" : " " + test);
    }

    private String test(Scenario scenario) {
        return test != null ? test : scenario.work() == Work.LATENCY ? "tag_lat" : "tag_bw";
    }

    /** UCX cancels atomic operations on endpoints that notice failures. */
    private List<String> arguments(String port) {
        return test != null && ATOMICS.contains(test) ? List.of("-p", port) : List.of("-p", port, NOTICES_FAILURES);
    }

    /** Whether this does the same as somebody else does in that work. */
    boolean isLimitOf(Contender contender, Work work) {
        return switch (contender) {
            case OneSided oneSided -> test != null && test.equals(oneSided.kind().limit(work));
            case Perftest other -> test == null && other.test == null;
            default -> test == null;
        };
    }

    @Override
    public String lane() {
        return lanes.toString();
    }

    @Override
    public String waitMode() {
        return "-";
    }

    /** Of the UCX that is bundled, or {@code null} if there is none. */
    static Path bundled() {
        var home = Path.of(System.getProperty(HOME, ""));
        return Files.isExecutable(home.resolve("bin/ucx_perftest")) ? home.toAbsolutePath() : null;
    }

    /** Of the works, it knows these, without TLS; and of the lanes, those of UCX. */
    static boolean knows(Scenario scenario, Lane lane) {
        return lane != Lane.SOCKET && scenario.connections() == 1 && scenario.isPlain()
                && (scenario.work() == Work.LATENCY || scenario.work() == Work.THROUGHPUT);
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        return measure(scenario, Limits.measured(scenario), interruption);
    }

    /** @param limit for each of its runs, in seconds */
    Sample measure(Scenario scenario, long limit, Interruption interruption) throws InterruptedException {
        // As with the others, a short attempt says how many operations fit into the time.
        var operations = scenario.operations();
        if (operations == 0) {
            var trial = 200L;
            var result = run(scenario, trial, limit, interruption);
            while (result.seconds() < scenario.seconds() / 10 && trial < 1L << 40) {
                trial *= 10;
                result = run(scenario, trial, limit, interruption);
            }
            operations = Math.max(1, Math.round(result.operations() * scenario.seconds() / result.seconds()));
        }
        return run(scenario, operations, limit, interruption);
    }

    private Sample run(Scenario scenario, long operations, long limit, Interruption interruption)
            throws InterruptedException {
        Process server = null;
        Process client = null;
        try {
            var number = randomPort();
            var port = Integer.toString(number);
            server = start(scenario.serverCpus(), arguments(port));
            for (var attempt = 1; !isListening(number, server, interruption); attempt++) {
                if (attempt == START_ATTEMPTS) {
                    throw new ExampleFailure("the server of ucx_perftest did not come up: "
                            + new String(server.getInputStream().readAllBytes()).strip());
                }
                destroy(server);
                number = randomPort();
                port = Integer.toString(number);
                server = start(scenario.serverCpus(), arguments(port));
            }
            var arguments = new ArrayList<>(arguments(port));
            arguments.addAll(List.of("-t", test(scenario),
                    "-s", Integer.toString(scenario.size()), "-n", Long.toString(operations),
                    "-w", Long.toString(Math.ceilDiv(operations, WARMUP)), "-f", "-v", "127.0.0.1"));
            if (test != null && scenario.work() == Work.THROUGHPUT) {
                // It does gets and atomic operations one after the other if it is not told.
                arguments.addAll(List.of("-O", Integer.toString(OneSidedOperations.WINDOW)));
            }
            client = start(scenario.clientCpus(), arguments);
            var begin = System.nanoTime();
            while (!client.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                interruption.check();
                if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(limit)) {
                    throw new ExampleFailure("ucx_perftest was not done within " + limit + " s");
                }
            }
            var output = new String(client.getInputStream().readAllBytes());
            interruption.check();
            return parse(scenario, output, version());
        } catch (IOException e) {
            throw new ExampleFailure("cannot run ucx_perftest: " + e.getMessage(), e);
        } finally {
            destroy(client);
            destroy(server);
        }
    }

    /**
     * @param output of {@code ucx_perftest -f -v}
     */
    Sample parse(Scenario scenario, String output, String version) {
        var fields = output.lines().map(line -> line.strip().split(","))
                .filter(cells -> cells.length == FIELDS && cells[0].matches("\\d+"))
                .reduce((_, last) -> last)
                .orElseThrow(() -> new ExampleFailure("ucx_perftest said nothing that is known: " + output.strip()));
        var operations = Long.parseLong(fields[0]);
        var figures = new EnumMap<Metric, Double>(Metric.class);
        var rate = Double.parseDouble(fields[OVERALL_RATE]);
        if (scenario.work() == Work.LATENCY) {
            var ways = test(scenario).endsWith(HALF) ? 2 : 1;
            figures.put(Metric.P50, ways * Double.parseDouble(fields[PERCENTILE_LATENCY]));
            rate /= ways;
        } else {
            figures.put(Metric.BANDWIDTH, rate * scenario.size() / 1e9);
        }
        figures.put(Metric.RATE, rate);
        return new Sample(lane(), version, operations, operations / rate, figures, null, null);
    }

    private static String version() {
        return "UCX " + Ucx.version();
    }

    private Process start(String cpus, List<String> arguments) throws IOException {
        var command = new ArrayList<String>();
        if (cpus != null) {
            command.addAll(List.of("taskset", "-c", cpus));
        }
        command.add(home.resolve("bin/ucx_perftest").toString());
        command.addAll(arguments);
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.put("LD_LIBRARY_PATH", home.resolve("lib").toString());
        // What the library makes of the environment for this transport: its limit is UCX as it uses UCX. Without some of
        // it there is no shared memory with -e.
        for (var setting : UcxEnvironment.settings(UcxLibrary.load().version())) {
            environment.putIfAbsent(setting.name(), setting.value());
        }
        environment.put("UCX_TLS", transports());
        return builder.start();
    }

    /** Those of the transport's lane. Its two processes find each other by a socket of their own, which UCX has no part in. */
    private String transports() {
        return switch (lanes) {
            // What AUTO comes to on one host.
            case AUTO, SHM -> "shm";
            case RDMA -> "ib";
            case TCP -> "tcp";
            case SOCKET -> throw new IllegalArgumentException("UCX has no part in lane socket");
        };
    }

    /** Below those that the kernel gives away, so that only another of these can be faster. */
    private static int randomPort() {
        return ThreadLocalRandom.current().nextInt(LEAST_PORT, MOST_PORT);
    }

    /** Looks at the kernel's list: a connection made to try would be taken for the client's. */
    private static boolean isListening(int port, Process server, Interruption interruption)
            throws IOException, InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
        var pattern = String.format(":%04X 00000000:0000 0A", port);
        var pattern6 = String.format(":%04X 00000000000000000000000000000000:0000 0A", port);
        while (System.nanoTime() < deadline && server.isAlive()) {
            interruption.check();
            if (Files.readString(Path.of("/proc/net/tcp")).contains(pattern)
                    || Files.exists(Path.of("/proc/net/tcp6"))
                    && Files.readString(Path.of("/proc/net/tcp6")).contains(pattern6)) {
                return true;
            }
            // Another process's socket: there is nothing to wait for but a change of the list.
            Thread.sleep(POLL_MILLIS / 5);
        }
        server.destroyForcibly();
        return false;
    }

    private static void destroy(Process process) throws InterruptedException {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }
}
