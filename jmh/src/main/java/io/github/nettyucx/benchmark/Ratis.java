// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.FileTree;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Apache Ratis, unmodified, over the gRPC and the Netty that it has inside: servers and a client, each in a process of its own,
 * with the agent or without.
 */
record Ratis(boolean agent) implements Contender {
    static final int SERVERS = 3;
    /** Bytes of an entry, and requests under way, are the application's own. */
    static final int ENTRY = 200;
    static final int OUTSTANDING = 64;
    /** Of writes and then of reads: the JIT compilers of four processes have half a minute. */
    private static final int UNMEASURED_MILLIS = 15_000;
    /** What the servers' logs may take, in bytes. */
    private static final long ROOM = 1L << 30;
    /** Where the agent's jar is, and what the module has built that has the application; {@code run-benchmark.sh} says it. */
    private static final String AGENT = "io.github.nettyucx.benchmark.agent";
    private static final String APPLICATIONS = "io.github.nettyucx.benchmark.applications";
    private static final List<String> JARS = List.of("/org/apache/ratis/", "/org/slf4j/");
    private static final String MAIN = "io.github.nettyucx.integration.agent.RatisApplication";
    private static final String RPC = "GRPC";
    private static final List<String> JVM_OPTIONS = List.of("-Xmx384m");
    private static final String SERVING = "serving ";
    private static final String MEASURED = "measured ";
    /** Of the agent's report: a lane, and the side that this process was. */
    private static final Pattern LANE = Pattern.compile("  (\\S+) +(?:client|server) +\\S+ +\\d+ +\\d+ +\\d+.*");
    private static final long START_SECONDS = 60;
    private static final int LEAST_PORT = 15_000;
    private static final int MOST_PORT = 30_000;

    @Override
    public String name() {
        return agent ? "Ratis with the agent" : "Ratis";
    }

    @Override
    public String lane() {
        return agent ? "auto" : "-";
    }

    @Override
    public String waitMode() {
        return "-";
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        var processes = new ArrayList<ChildProcess>();
        Path directory = null;
        try {
            var classPath = classPath();
            directory = makeDirectory();
            var ports = freePorts(scenario.connections());
            for (var id = 0; id < scenario.connections(); id++) {
                processes.add(start(scenario.serverCpus(), classPath, List.of("server", RPC, Integer.toString(id), ports,
                        directory.resolve(Integer.toString(id)).toString())));
            }
            for (var server : processes) {
                Pair.await(server, SERVING, START_SECONDS, interruption::check);
            }
            var millis = Math.round(1000 * scenario.seconds());
            var client = start(scenario.clientCpus(), classPath, List.of("measure", RPC, ports,
                    Integer.toString(UNMEASURED_MILLIS), Long.toString(millis)));
            processes.addFirst(client);
            var rates = Pair.await(client, MEASURED, START_SECONDS + 2 * (UNMEASURED_MILLIS + millis) / 1000,
                    interruption::check).split(" ");
            client.awaitEnd();
            for (var server : processes.subList(1, processes.size())) {
                server.stop();
            }
            return sample(scenario, Double.parseDouble(rates[0]), Double.parseDouble(rates[1]), lane(client));
        } catch (IOException e) {
            throw new ExampleFailure("cannot start Ratis: " + e.getMessage(), e);
        } finally {
            // Those that have not ended by themselves write into their directories until they have gone.
            processes.forEach(ChildProcess::close);
            delete(directory);
        }
    }

    /** Nothing of ours, and no Netty but that which is inside Ratis. */
    private static String classPath() throws IOException {
        var built = System.getProperty(APPLICATIONS);
        if (built == null) {
            throw new ExampleFailure("Ratis was not built. ./run-benchmark.sh does that, for applications and for all");
        }
        var jars = Files.readString(Path.of(built, "applications.classpath")).strip().split(File.pathSeparator);
        return Stream.concat(Stream.of(Path.of(built, "test-classes").toString()),
                Stream.of(jars).filter(jar -> JARS.stream().anyMatch(jar::contains)))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private Sample sample(Scenario scenario, double writes, double reads, String lane) {
        return new Sample(lane, "Apache Ratis", Math.round((writes + reads) * scenario.seconds()), 2 * scenario.seconds(),
                Map.of(Metric.RATE, writes, Metric.READ_RATE, reads), null, null);
    }

    private ChildProcess start(String cpus, String classPath, List<String> arguments) {
        var options = new ArrayList<>(JVM_OPTIONS);
        if (agent) {
            options.add("-javaagent:" + System.getProperty(AGENT) + "=report");
        }
        return ChildProcess.start(name() + ", " + arguments.getFirst(), NettyContender.launcher(cpus), options, classPath, MAIN,
                arguments, line -> line.startsWith(SERVING) || line.startsWith(MEASURED));
    }

    /** Those that the agent has reported: where the bytes were to go over shared memory it has to be seen that they did. */
    private String lane(ChildProcess client) {
        if (!agent) {
            return "-";
        }
        var lanes = new LinkedHashSet<String>();
        for (var line : client.errors()) {
            var row = LANE.matcher(line);
            if (row.matches()) {
                lanes.add(row.group(1));
            }
        }
        if (lanes.isEmpty()) {
            throw client.failed("the agent has reported no connection");
        }
        return String.join(",", lanes);
    }

    /** In memory: what is written is forced to disk, and disks are not what is compared. */
    private static Path makeDirectory() throws IOException {
        var memory = Path.of("/dev/shm");
        // A container often has 64 MiB of it, which UCX needs as well.
        return Files.isWritable(memory) && Files.getFileStore(memory).getUsableSpace() > ROOM
                ? Files.createTempDirectory(memory, "ratis") : Files.createTempDirectory("ratis");
    }

    /** As much of it as there is and can be deleted; it says if something is left. */
    static void delete(Path directory) {
        if (directory == null) {
            return;
        }
        try {
            FileTree.delete(directory);
        } catch (IOException e) {
            System.err.println("[Ratis] " + directory + " could not be deleted: " + e.getMessage());
        }
    }

    /** Each has to know those of the others before they start. Below those that the kernel gives to connections. */
    private static String freePorts(int count) {
        var ports = new LinkedHashSet<String>();
        while (ports.size() < count) {
            var port = ThreadLocalRandom.current().nextInt(LEAST_PORT, MOST_PORT);
            try (var probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                ports.add(Integer.toString(probe.getLocalPort()));
            } catch (IOException e) {
                // Somebody has it.
            }
        }
        return String.join(",", ports);
    }
}
