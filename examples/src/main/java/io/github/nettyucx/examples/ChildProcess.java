// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A Java process of the same code that lives no longer than this one: it ends when its standard input does, and that
 * happens however this process goes, even by SIGKILL. See {@link ParentProcess} for the child's half of it.
 */
public final class ChildProcess implements AutoCloseable {
    /** Options that every such process is started with. */
    public static final List<String> FLAGS =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");
    private static final int REMEMBERED_LINES = 60;
    /** More than {@link ParentProcess} gives the other process for an orderly end. */
    private static final long STOP_SECONDS = 25;
    /** One that the system cannot end, because it waits for a disk for example, is not waited for any longer. */
    private static final long KILL_SECONDS = 10;
    private static final int EXIT_SIGINT = 130;
    private static final int EXIT_SIGTERM = 143;

    private final String name;
    private final Process process;
    private final BlockingQueue<Optional<String>> output = new LinkedBlockingQueue<>();
    private final Deque<String> errors = new ArrayDeque<>();
    private final Thread errorReader;

    private ChildProcess(String name, Process process, Predicate<String> reports) {
        this.name = name;
        this.process = process;
        reader(process.getInputStream(), line -> {
            if (reports.test(line)) {
                output.add(Optional.of(line));
            } else {
                // Native libraries write their warnings to standard output.
                remember(line);
            }
        }, () -> output.add(Optional.empty()));
        errorReader = reader(process.getErrorStream(), this::remember, () -> { });
    }

    /**
     * @param name how messages speak of the process, for example {@code the nio server}
     * @param reports tells the lines on standard output that are meant for this process
     */
    public static ChildProcess start(String name, Class<?> main, List<String> arguments, Predicate<String> reports) {
        return start(name, List.of(), List.of(), main, arguments, reports);
    }

    /**
     * @param launcher what goes before the command, for example {@code taskset -c 0}
     * @param jvmOptions are added to those that this JVM hands on
     */
    public static ChildProcess start(String name, List<String> launcher, List<String> jvmOptions, Class<?> main,
                                     List<String> arguments, Predicate<String> reports) {
        return start(name, launcher, Stream.concat(inheritedOptions().stream(), jvmOptions.stream()).toList(),
                System.getProperty("java.class.path"), main.getName(), arguments, reports);
    }

    /**
     * Starts what need not be of the same code; this JVM hands nothing on.
     *
     * @param launcher what goes before the command, for example {@code taskset -c 0}
     * @param classPath of the process
     * @param main the name of its class
     */
    public static ChildProcess start(String name, List<String> launcher, List<String> jvmOptions, String classPath,
                                     String main, List<String> arguments, Predicate<String> reports) {
        var command = new ArrayList<>(launcher);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(jvmOptions);
        command.add(main);
        command.addAll(arguments);
        var builder = new ProcessBuilder(command);
        // Not as an argument: the system shows the first few thousand characters of a command line only, and those who
        // look for a process want to see what it is.
        builder.environment().put("CLASSPATH", classPath);
        try {
            return new ChildProcess(name, StartedProcesses.start(builder), reports);
        } catch (IOException e) {
            throw new ExampleFailure("cannot start " + name + ": " + e.getMessage(), e);
        }
    }

    /**
     * What this JVM hands on: its settings of memory and of the transport, but no agents: a debugger's port, say, can be had only
     * once.
     */
    public static List<String> inheritedOptions() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("-Xm") || option.startsWith("-Xs") || option.startsWith("-XX:")
                        || option.startsWith("-Dio.netty.") || option.startsWith("-Dio.github.nettyucx."))
                .toList();
    }

    /** Of the process, if its launcher (as {@code taskset} does) becomes the process. */
    public long pid() {
        return process.pid();
    }

    /**
     * The next report on its standard output.
     *
     * @return {@code null} if none comes in time
     * @throws ExampleFailure if none will ever come, with all that is known about why
     */
    public String nextReport(long timeoutMillis) throws InterruptedException {
        var line = output.poll(timeoutMillis, TimeUnit.MILLISECONDS);
        if (line == null) {
            return null;
        }
        return line.orElseThrow(this::endedEarly);
    }

    /** Writes a line to its standard input. One that has just ended reads it no more, which is told by its end. */
    public void tell(String line) {
        try {
            var input = process.getOutputStream();
            input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException e) {
            // A broken pipe: whoever waits for its answer learns that it is gone.
        }
    }

    /** Waits no longer than that for its end. */
    public boolean endsWithin(long millis) throws InterruptedException {
        return process.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    /** It gave up, and said why. */
    public ExampleFailure failed(String reason) {
        var others = errors();
        return new ExampleFailure(name + " failed: " + reason + (others.isEmpty() ? "" : quotedErrors()));
    }

    /** It is gone, and was not to be. */
    public ExampleFailure endedEarly() {
        try {
            process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
            errorReader.join(TimeUnit.SECONDS.toMillis(STOP_SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        var how = process.isAlive() ? " closed its output too early" : " ended too early" + exitCode();
        return new ExampleFailure(name + how + quotedErrors());
    }

    private String exitCode() {
        var code = process.exitValue();
        return switch (code) {
            case EXIT_SIGINT, EXIT_SIGTERM -> ", it was interrupted";
            default -> " with exit code " + code;
        };
    }

    private String quotedErrors() {
        synchronized (errors) {
            return errors.isEmpty() ? ", without a word"
                    : "; it said:\n    " + String.join("\n    ", errors);
        }
    }

    /** The last lines of what it wrote and was no report. */
    public List<String> errors() {
        synchronized (errors) {
            return List.copyOf(errors);
        }
    }

    /** Tells it to stop and waits until it has; for a process that runs until it is told. */
    public void stop() throws InterruptedException {
        stop(STOP_SECONDS);
    }

    /** The same, for one that takes some time for that. */
    public void stop(long seconds) throws InterruptedException {
        closeInput();
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new ExampleFailure(name + " did not stop within " + seconds + " s of being told to"
                    + quotedErrors());
        }
        awaitEnd();
    }

    /** Waits until a process that ends by itself has ended. */
    public void awaitEnd() throws InterruptedException {
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            throw new ExampleFailure(name + " was done, but did not end within " + STOP_SECONDS + " s"
                    + quotedErrors());
        }
        errorReader.join();
        if (process.exitValue() != 0) {
            throw new ExampleFailure(name + " ended" + exitCode() + quotedErrors());
        }
    }

    private void closeInput() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills it if it has not ended, and waits until it has gone: till then it may still write. */
    @Override
    public void close() {
        process.destroyForcibly();
        var interrupted = false;
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(KILL_SECONDS);
        while (true) {
            try {
                process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                break;
            } catch (InterruptedException e) {
                // It is killed already, and takes no longer than it takes.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void remember(String line) {
        synchronized (errors) {
            errors.add(line);
            if (errors.size() > REMEMBERED_LINES) {
                errors.remove();
            }
        }
    }

    private static Thread reader(InputStream in, Consumer<String> lines, Runnable end) {
        return Thread.ofPlatform().daemon().name("child-output").start(() -> {
            try (var reader = new BufferedReader(new InputStreamReader(in, Charset.defaultCharset()))) {
                reader.lines().forEach(lines);
            } catch (IOException | UncheckedIOException e) {
                // The process was destroyed while it was writing: what came before is all there will be.
            } finally {
                end.run();
            }
        });
    }
}
