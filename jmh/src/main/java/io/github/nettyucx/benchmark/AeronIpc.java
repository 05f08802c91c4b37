// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Aeron over shared memory ({@code aeron:ipc}): what a JVM reaches for small messages without Netty and without UCX. A
 * server and a client process that look for messages without a pause, and the media driver in a third one, which is not
 * pinned and takes no part in a message. Each message is sent at once; nothing is flushed together.
 */
record AeronIpc() implements Contender {
    /** Aeron sends what is larger than {@code aeron.ipc.mtu.length} (1,408 bytes) in parts. It is not asked to here. */
    private static final int LARGEST = 1024;
    /** Agrona, on which Aeron is built, uses the JDK's own Unsafe. */
    private static final List<String> JVM_OPTIONS = Stream.concat(NettyContender.JVM_OPTIONS.stream(),
            Stream.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED")).toList();
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    @Override
    public String name() {
        return "aeron";
    }

    @Override
    public String lane() {
        return "-";
    }

    @Override
    public String waitMode() {
        return "-";
    }

    static boolean knows(Scenario scenario) {
        return scenario.connections() == 1 && scenario.isPlain() && scenario.size() <= LARGEST
                && (scenario.work() == Work.LATENCY || scenario.work() == Work.THROUGHPUT);
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        if (!knows(scenario)) {
            throw new ExampleFailure("Aeron is measured with one connection and messages of up to " + LARGEST
                    + " bytes, without TLS");
        }
        var parent = Files.isDirectory(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        var directory = parent.resolve("netty-ucx-benchmark-" + UUID.randomUUID()).toString();
        try (var driver = start(AeronChild.DRIVER, null, List.of(directory))) {
            try {
                Pair.await(driver, Child.LISTENING, Limits.START_SECONDS, interruption::check);
                return Pair.measure(name(), scenario, interruption, (role, cpus, more) -> {
                    var arguments = new ArrayList<>(List.of(directory, Json.LINE.toJson(scenario)));
                    arguments.addAll(more);
                    return start(role, cpus, arguments);
                });
            } finally {
                // The orderly way out: it takes its files with it.
                driver.stop();
            }
        }
    }

    private static ChildProcess start(String role, String cpus, List<String> more) {
        var arguments = new ArrayList<>(List.of(role));
        arguments.addAll(more);
        return ChildProcess.start("the aeron " + role, NettyContender.launcher(cpus), JVM_OPTIONS, AeronChild.class,
                arguments, Child::isReport);
    }
}
