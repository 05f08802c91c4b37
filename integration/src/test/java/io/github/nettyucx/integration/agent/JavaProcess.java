// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An application in a JVM of its own: without the agent, or with it. */
final class JavaProcess implements AutoCloseable {

    /** After that it hangs. */
    private static final int SECONDS = 120;
    private static final String END = "\0";

    private final Process process;
    private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final StringBuffer seen = new StringBuffer();

    private JavaProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread.ofVirtual().start(() -> {
            try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
                output.lines().forEach(line -> {
                    seen.append(line).append('\n');
                    lines.add(line);
                });
            } catch (IOException | RuntimeException e) {
                // It is gone.
            }
            lines.add(END);
        });
    }

    // ------------------------------------------------------------------------------------------- how it is started

    /**
     * @param agent     whether it has the agent, which then reports
     * @param classPath of the application
     * @param arguments options of the JVM, the main class, and its arguments
     */
    static JavaProcess start(boolean agent, List<Path> classPath, String... arguments) throws IOException {
        return startOn(Path.of(System.getProperty("java.home")), agent, classPath, Stream.concat(
                Stream.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"), Stream.of(arguments))
                .toArray(String[]::new));
    }

    /** On that JDK, which may be an older one, and with no options but these. */
    static JavaProcess startOn(Path home, boolean agent, List<Path> classPath, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(home.resolve("bin/java").toString(), "-Xmx384m"));
        if (agent) {
            // On a machine that is busy each may be slow, and is to be waited for.
            command.add("-Dio.github.nettyucx.plainGraceMillis=3000");
            command.add("-Dio.github.nettyucx.answerMillis=12000");
            command.add("-javaagent:" + System.getProperty("io.github.nettyucx.test.agent") + "=report");
        }
        command.add("-cp");
        command.add(classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
        command.addAll(List.of(arguments));
        return new JavaProcess(command);
    }

    /** @param main this test's own class, on the class path */
    static JavaProcess startMain(boolean agent, List<Path> classPath, Class<?> main, String... arguments) throws IOException {
        return start(agent, classPath, Stream.concat(Stream.of(main.getName()), Stream.of(arguments))
                .toArray(String[]::new));
    }

    /** The jars that the build has laid down for an application, with this test's own classes. */
    static List<Path> application(String name) throws IOException {
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty("io.github.nettyucx.test.applications"), name))) {
            return Stream.concat(jars, classPath().stream()).toList();
        }
    }

    /** Of this test's own class path: its classes, and the jars with one of these in their paths. */
    static List<Path> classPath(String... parts) {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<Path> chosen = Arrays.stream(all.split(File.pathSeparator))
                .filter(entry -> entry.endsWith("integration/target/test-classes")
                        || Stream.of(parts).anyMatch(entry::contains))
                .map(Path::of).toList();
        assertTrue(chosen.size() >= 1 + parts.length, all);
        return chosen;
    }

    // ------------------------------------------------------------------------------------------- what it does

    /** What follows the beginning of the next line that begins so. */
    String awaitLine(String beginning) throws InterruptedException {
        for (String line = next(); !line.equals(END); line = next()) {
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length());
            }
        }
        throw new AssertionError("it ended without a line that begins with '" + beginning + "':\n" + seen);
    }

    /** Has printed a line that has this in it. */
    void await(String part) throws InterruptedException {
        for (String line = next(); !line.contains(part); line = next()) {
            if (line.equals(END)) {
                throw new AssertionError("it ended without a line with '" + part + "':\n" + seen);
            }
        }
    }

    private String next() throws InterruptedException {
        String line = lines.poll(SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            process.destroyForcibly();
            throw new AssertionError("nothing for " + SECONDS + " s:\n" + seen);
        }
        return line;
    }

    void tell(String line) {
        new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8).println(line);
    }

    /** All that it has printed. */
    String awaitEnd() throws InterruptedException {
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("does not end:\n" + seen);
        }
        awaitOutput();
        assertEquals(0, process.exitValue(), seen::toString);
        return seen.toString();
    }

    /** By SIGTERM, as an administrator ends it. @return all that it has printed */
    String terminate() throws InterruptedException {
        // The process's own method would close its output, too.
        process.toHandle().destroy();
        assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), () -> "does not end:\n" + seen);
        awaitOutput();
        return seen.toString();
    }

    /** By SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    private void awaitOutput() throws InterruptedException {
        String line = next();
        while (!line.equals(END)) {
            line = next();
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String output() {
        return seen.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
