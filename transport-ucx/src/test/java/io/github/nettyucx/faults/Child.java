// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.LaneJvm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Another process, in which a program of the tests runs on the lane of this one. It tells with lines that begin with
 * {@link #SAID} how far it has come, takes lines as commands, and ends with the JVM that started it.
 */
public final class Child implements AutoCloseable {

    public static final String SAID = "@";

    private static final long SECONDS = 30;
    private static final String NO_LEAK_DETECTION = "-Dio.netty.leakDetectionLevel=disabled";

    private final Class<?> program;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

    private Child(Class<?> program, ProcessBuilder builder) throws IOException {
        this.program = program;
        process = builder.redirectErrorStream(true).start();
        commands = process.outputWriter();
        Thread.ofPlatform().daemon().name("output of " + program.getSimpleName()).start(this::forwardOutput);
    }

    public static Child start(Class<?> program, Object... arguments) throws IOException {
        return start(List.of(), List.of(), program, arguments);
    }

    /**
     * @param launcher a command that runs the JVM, or nothing
     * @param flags    further ones of the JVM
     */
    public static Child start(List<String> launcher, List<String> flags, Class<?> program, Object... arguments)
            throws IOException {
        List<String> jvmFlags = new ArrayList<>(LaneJvm.SMALL);
        jvmFlags.add(NO_LEAK_DETECTION);
        jvmFlags.addAll(flags);
        String[] words = new String[arguments.length];
        for (int i = 0; i < words.length; i++) {
            words[i] = arguments[i].toString();
        }
        List<String> command = new ArrayList<>(launcher);
        command.addAll(LaneJvm.command(Lane.current(), jvmFlags, program, words));
        ProcessBuilder builder = new ProcessBuilder(command);
        // For programs that use UCX without the transport.
        builder.environment().putAll(Map.of("UCX_WARN_UNUSED_ENV_VARS", "n"));
        return new Child(program, builder);
    }

    private void forwardOutput() {
        try (BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.startsWith(SAID)) {
                    said.add(line.substring(SAID.length()));
                } else {
                    System.out.println(program.getSimpleName() + ": " + line);
                }
            }
        } catch (IOException e) {
            // Killed.
        }
        said.add("gone");
    }

    /**
     * When the kernel had closed all descriptors of a process that has been killed, by {@link System#nanoTime}. It comes to
     * that some time after the signal: it first takes the process's memory apart, then closes one descriptor after the other,
     * and has to find a processor for all that.
     */
    public CompletableFuture<Long> gone() {
        return gone(System::nanoTime);
    }

    /** The same. */
    <T> CompletableFuture<T> gone(Supplier<T> moment) {
        return process.onExit().thenApply(ended -> moment.get());
    }

    /** Waits until the child says {@code word}, and returns what it says behind it. */
    public String await(String word) throws InterruptedException {
        return await(word, SECONDS);
    }

    public String await(String word, long seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        for (;;) {
            String line = said.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new AssertionError(program.getSimpleName() + " does not say '" + word + "'");
            }
            if (line.equals("gone")) {
                throw new AssertionError(program.getSimpleName() + " ended with " + process.waitFor()
                        + " before it said '" + word + "'");
            }
            if (line.startsWith("wrong")) {
                throw new AssertionError(program.getSimpleName() + " says: " + line);
            }
            if (line.equals(word) || line.startsWith(word + ' ')) {
                return line.substring(Math.min(line.length(), word.length() + 1));
            }
        }
    }

    public int awaitPort() throws InterruptedException {
        return Integer.parseInt(await("port"));
    }

    public void tell(String command) throws IOException {
        commands.write(command + '\n');
        commands.flush();
    }

    /** In the child: says a line. */
    public static void say(String line) {
        // One call, so that nothing of another thread's comes between.
        System.out.print(SAID + line + '\n');
        System.out.flush();
    }

    /** In the child: the next command; ends the process when there is nobody any more who gives them. */
    public static String nextCommand() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = System.in.read(); c != '\n'; c = System.in.read()) {
            if (c < 0) {
                System.exit(1);
            }
            line.append((char) c);
        }
        return line.toString();
    }

    /** SIGKILL. */
    public void kill() {
        // Process.destroyForcibly closes the pipes on this side, and with them what the process has said.
        process.toHandle().destroyForcibly();
    }

    /** SIGSTOP: returns when it has stopped. */
    void stop() throws IOException, InterruptedException {
        signal("STOP");
        while (!hasStopped()) {
            Thread.onSpinWait();
        }
    }

    /** One thread takes the signal, and the others go on until they hear of it. */
    private boolean hasStopped() throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path thread : threads) {
                try {
                    String stat = Files.readString(thread.resolve("stat"));
                    if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                        return false;
                    }
                } catch (IOException e) {
                    // It has ended meanwhile.
                    return false;
                }
            }
        }
        return true;
    }

    /** SIGCONT. */
    void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start().waitFor();
        if (exit != 0) {
            throw new IOException("kill -" + name + " failed with " + exit);
        }
    }

    public long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
