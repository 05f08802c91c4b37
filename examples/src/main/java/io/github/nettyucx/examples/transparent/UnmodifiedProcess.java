// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.transparent;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.StartedProcesses;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** One of Netty's examples in a JVM of its own, whose class path has Netty and nothing of ours. */
final class UnmodifiedProcess implements AutoCloseable {
    /** Where the agent's jar is; {@code run-example.sh} says it. */
    static final String AGENT_PROPERTY = "io.github.nettyucx.examples.agent";
    private static final String PACKAGE = "io.netty.example.";
    private static final long SECONDS = 60;

    private final String name;
    private final Process process;
    private final LinkedBlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
    private final StringBuffer output = new StringBuffer();

    private UnmodifiedProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        Thread.ofVirtual().start(this::readAll);
    }

    private void readAll() {
        try (BufferedReader reader = process.inputReader()) {
            reader.lines().forEach(line -> {
                output.append(line).append('\n');
                lines.add(Optional.of(line));
            });
        } catch (IOException | UncheckedIOException e) {
            // It was killed: what came before is all there will be.
        } finally {
            lines.add(Optional.empty());
        }
    }

    /**
     * @param name of the class, below Netty's package for its examples
     * @param options of the JVM, beside those that all have
     */
    static UnmodifiedProcess start(String name, boolean agent, int port, String... options) {
        var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--sun-misc-unsafe-memory-access=allow", "-Dhost=127.0.0.1", "-Dport=" + port));
        command.addAll(List.of(options));
        if (agent) {
            command.add("-javaagent:" + agentJar() + "=report");
            // On a machine that is busy each may be slow, and is to be waited for.
            command.add("-Dio.github.nettyucx.plainGraceMillis=3000");
            command.add("-Dio.github.nettyucx.answerMillis=12000");
        }
        command.addAll(List.of("-cp", netty(), PACKAGE + name));
        try {
            return new UnmodifiedProcess(name, StartedProcesses.start(
                    new ProcessBuilder(command).redirectErrorStream(true)));
        } catch (IOException e) {
            throw new ExampleFailure("cannot start " + name + ": " + e.getMessage(), e);
        }
    }

    private static Path agentJar() {
        var jar = System.getProperty(AGENT_PROPERTY);
        if (jar == null || !Files.exists(Path.of(jar))) {
            throw new ExampleFailure("the agent's jar is not there: " + jar
                    + ". './run-example.sh transparent' builds it, and says where it is.");
        }
        return Path.of(jar);
    }

    private static String netty() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.contains("/io/netty/")).collect(Collectors.joining(File.pathSeparator));
    }

    /** Until it has printed a line with that. @return the line */
    String await(String part) throws InterruptedException {
        while (true) {
            var line = lines.poll(SECONDS, TimeUnit.SECONDS);
            if (line == null || line.isEmpty()) {
                throw new ExampleFailure("Netty's " + name + (line == null ? " says nothing more" : " has ended")
                        + ", without '" + part + "'; this is what it has said:\n" + output);
            }
            if (line.get().contains(part)) {
                return line.get();
            }
        }
    }

    /** What the kernel says that it has read: all that came over sockets, and a little more. */
    long bytesRead() throws IOException {
        var key = "rchar: ";
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "io")).stream()
                .filter(line -> line.startsWith(key)).mapToLong(line -> Long.parseLong(line.substring(key.length())))
                .findFirst().orElseThrow();
    }

    /** Ends it, as Ctrl-C does. @return all that it has printed */
    String end() throws InterruptedException {
        // The process's own method would close its output, too.
        process.toHandle().destroy();
        return awaitEnd();
    }

    /** @return all that it has printed */
    String awaitEnd() throws InterruptedException {
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            throw new ExampleFailure("Netty's " + name + " does not end; this is what it has said:\n" + output);
        }
        var line = lines.take();
        while (line.isPresent()) {
            line = lines.take();
        }
        return output.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
