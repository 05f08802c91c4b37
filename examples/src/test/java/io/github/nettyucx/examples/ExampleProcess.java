// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An example that runs the way a user runs it: in a process of its own, with arguments and standard streams. */
public final class ExampleProcess implements AutoCloseable {
    private static final long END_SECONDS = 500;
    private static final String LIBRARY = "io.github.nettyucx.library";

    /** What a process left behind. */
    public record Outcome(int exitCode, byte[] outBytes, String err) {
        public String out() {
            return new String(outBytes, StandardCharsets.UTF_8);
        }

        /** A run that went well says nothing on standard error: no warning, no leak report, no stack trace. */
        public Outcome assertClean() {
            assertEquals("", err);
            assertEquals(0, exitCode);
            return this;
        }

        public Outcome assertFailed(int expectedExitCode) {
            assertEquals(expectedExitCode, exitCode, () -> out() + err);
            assertEquals(-1, err.indexOf("\tat "), () -> "a stack trace: " + err);
            return this;
        }

        /**
         * One line of standard error starts so. It need not be the first one: UCX logs what its system calls returned
         * before the example tells what that means.
         */
        public void assertSaid(String start) {
            assertTrue(err.lines().anyMatch(line -> line.startsWith(start)), () -> "no line starts with '" + start + "': " + err);
        }
    }

    private final Process process;
    private final BufferedReader lines;
    private final CompletableFuture<byte[]> err;

    private ExampleProcess(Process process) {
        this.process = process;
        lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        err = CompletableFuture.supplyAsync(() -> readAll(process.getErrorStream()),
                task -> Thread.ofPlatform().daemon().start(task));
    }

    public static ExampleProcess start(Class<?> main, String... arguments) throws IOException {
        return startWith(List.of(), main, arguments);
    }

    /**
     * @param options of the JVM, beside those that all examples get
     */
    public static ExampleProcess startWith(List<String> options, Class<?> main, String... arguments) throws IOException {
        return start(options, Map.of(), main, arguments);
    }

    private static ExampleProcess start(List<String> options, Map<String, String> environment, Class<?> main,
                                        String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                // Each buffer is watched.
                "-Dio.netty.leakDetectionLevel=simple", "-Dio.netty.leakDetection.samplingInterval=1",
                "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8", "-Xmx512m"));
        var library = System.getProperty(LIBRARY);
        if (library != null) {
            command.add("-D" + LIBRARY + "=" + library);
        }
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        // Asked for, the environment is Java's copy of it: without what UCX's variables were set to in this process, if
        // an earlier test has used UCX in it.
        builder.environment().putAll(environment);
        return new ExampleProcess(builder.start());
    }

    /** Starts an example without input and waits for its end. */
    public static Outcome run(Class<?> main, String... arguments) throws Exception {
        return run(new byte[0], main, arguments);
    }

    /**
     * Starts an example without input and waits for its end.
     *
     * @param options of the JVM, beside those that all examples get
     */
    public static Outcome withOptions(List<String> options, Class<?> main, String... arguments) throws Exception {
        return outcome(new byte[0], start(options, Map.of(), main, arguments));
    }

    /**
     * Starts an example without input and waits for its end.
     *
     * @param environment variables that are set beside those that this process has
     */
    public static Outcome withEnvironment(Map<String, String> environment, Class<?> main, String... arguments)
            throws Exception {
        return outcome(new byte[0], start(List.of(), environment, main, arguments));
    }

    /** Starts an example, feeds it its input and waits for its end. */
    public static Outcome run(byte[] input, Class<?> main, String... arguments) throws Exception {
        return outcome(input, start(main, arguments));
    }

    private static Outcome outcome(byte[] input, ExampleProcess started) throws Exception {
        try (var example = started) {
            var feeding = CompletableFuture.runAsync(() -> example.feed(input),
                    task -> Thread.ofPlatform().daemon().start(task));
            var out = CompletableFuture.supplyAsync(() -> readAll(example.process.getInputStream()),
                    task -> Thread.ofPlatform().daemon().start(task));
            var exitCode = example.awaitEnd();
            feeding.exceptionally(_ -> null).get(END_SECONDS, TimeUnit.SECONDS);
            return new Outcome(exitCode, out.get(END_SECONDS, TimeUnit.SECONDS),
                    new String(example.err.get(END_SECONDS, TimeUnit.SECONDS), StandardCharsets.UTF_8));
        }
    }

    /** The next line of standard output; fails if there is none. */
    public String line() throws IOException {
        var line = lines.readLine();
        assertNotNull(line, () -> "ended early: " + errors());
        return line;
    }

    /** Reads the address a server printed. */
    public String address() throws IOException {
        var line = line();
        var prefix = "listening ";
        assertEquals(prefix, line.substring(0, Math.min(prefix.length(), line.length())));
        return line.substring(prefix.length());
    }

    /** The outcome of a process that is about to end, or has. */
    public Outcome outcome() throws Exception {
        var exitCode = awaitEnd();
        var out = new ByteArrayOutputStream();
        for (String line; (line = lines.readLine()) != null;) {
            out.writeBytes((line + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return new Outcome(exitCode, out.toByteArray(), errors());
    }

    public Process process() {
        return process;
    }

    private String errors() {
        return new String(err.join(), StandardCharsets.UTF_8);
    }

    private int awaitEnd() throws InterruptedException, TimeoutException {
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            throw new TimeoutException("still running after " + END_SECONDS + " s");
        }
        return process.exitValue();
    }

    private void feed(byte[] input) {
        try (OutputStream in = process.getOutputStream()) {
            in.write(input);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] readAll(InputStream in) {
        try (in) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
