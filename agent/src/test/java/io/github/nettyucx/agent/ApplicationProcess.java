// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An application in a JVM of its own, with the agent's jar or without it. */
final class ApplicationProcess implements AutoCloseable {

    private static final int SECONDS = 120;
    /** The agent's line for a connection: lane, side, peer, how many, bytes in both directions, reason. */
    static final String LANE_OF_MEMORY = "(?m)^  (sysv|posix) +";

    private final Process process;
    private final BufferedReader output;
    private final StringBuilder seen = new StringBuilder();

    private ApplicationProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    static Path agentJar() {
        return Path.of(System.getProperty("io.github.nettyucx.test.agent"));
    }

    /** The jars of a release of Netty, by the directory that the build has copied them to. */
    static List<Path> netty(String release) throws IOException {
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty("io.github.nettyucx.test.nettys"), release))) {
            return jars.sorted().toList();
        }
    }

    /** The transport as an application has it on its class path, with a UCX: of this test's own class path. */
    static List<Path> ownTransport() {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return Arrays.stream(all.split(File.pathSeparator)).filter(entry -> entry.contains("/transport-ucx"))
                .map(Path::of).toList();
    }

    static Path testClasses() {
        try {
            return Path.of(ApplicationProcess.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    // ------------------------------------------------------------------------------------------- how it is started

    /** What a JVM is started with. */
    static final class Builder {

        private final List<String> options = new ArrayList<>(List.of("--sun-misc-unsafe-memory-access=allow"));
        private final List<Path> classPath = new ArrayList<>();
        private final List<String> launcher = new ArrayList<>();
        private Path java = Path.of(System.getProperty("java.home"));
        private final List<String> mainAndArguments;

        private Builder(String... mainAndArguments) {
            this.mainAndArguments = List.of(mainAndArguments);
        }

        Builder onNetty(String release) throws IOException {
            classPath.addAll(netty(release));
            classPath.add(testClasses());
            return this;
        }

        Builder on(List<Path> entries) {
            classPath.addAll(entries);
            return this;
        }

        /** On a machine that is busy each may be slow, and is to be waited for. */
        Builder withAgent(String arguments) {
            options.add("-Dio.github.nettyucx.plainGraceMillis=3000");
            options.add("-Dio.github.nettyucx.answerMillis=12000");
            options.add("-javaagent:" + agentJar() + (arguments.isEmpty() ? "" : "=" + arguments));
            return this;
        }

        Builder with(String... jvmOptions) {
            options.addAll(List.of(jvmOptions));
            return this;
        }

        Builder java(Path home) {
            java = home;
            options.removeFirst();
            return this;
        }

        /** What is to begin the command. */
        Builder launchedBy(List<String> words) {
            launcher.addAll(words);
            return this;
        }

        ApplicationProcess start() throws IOException {
            List<String> command = new ArrayList<>(launcher);
            command.add(java.resolve("bin/java").toString());
            command.addAll(options);
            command.add("-cp");
            command.add(classPath.stream().map(Path::toString).collect(Collectors.joining(":")));
            command.addAll(mainAndArguments);
            return new ApplicationProcess(command);
        }

        /** All that it prints until it ends, in good order. */
        String run() throws IOException, InterruptedException {
            try (ApplicationProcess started = start()) {
                return started.awaitEnd();
            }
        }
    }

    static Builder of(Class<?> main, String... arguments) {
        return new Builder(Stream.concat(Stream.of(main.getName()), Arrays.stream(arguments)).toArray(String[]::new));
    }

    static Builder of(String main, String... arguments) {
        return new Builder(Stream.concat(Stream.of(main), Arrays.stream(arguments)).toArray(String[]::new));
    }

    // ------------------------------------------------------------------------------------------- what it does

    String awaitEnd() throws IOException, InterruptedException {
        endInTime();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
        }
        assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), seen::toString);
        assertEquals(0, process.exitValue(), seen::toString);
        return seen.toString();
    }

    private void endInTime() {
        process.onExit().orTimeout(SECONDS, TimeUnit.SECONDS).exceptionally(late -> process.destroyForcibly());
    }

    /** The next line that begins so, without that. */
    String awaitLine(String beginning) throws IOException {
        endInTime();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length());
            }
        }
        throw new AssertionError("no line that begins with '" + beginning + "':\n" + seen);
    }

    /** A line for its standard input. */
    void tell(String line) {
        PrintStream input = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        input.println(line);
    }

    /** There is no more of it. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** So far. */
    String output() {
        return seen.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
