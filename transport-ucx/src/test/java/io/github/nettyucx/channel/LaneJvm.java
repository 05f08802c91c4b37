// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.opentest4j.AssertionFailedError;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A JVM of one {@link Lane}, started as this one was; {@link LaneMain} runs in it. */
public final class LaneJvm implements AutoCloseable {

    /** Flags with which a program starts fast and takes little, since many are started. */
    public static final List<String> SMALL = List.of("-Xms32m", "-Xmx256m", "-XX:-AlwaysPreTouch",
            "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private final Lane lane;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Thread reader;

    /** @param variables further ones of its environment, each as {@code NAME=value} */
    LaneJvm(Lane lane, List<String> variables) throws IOException {
        this.lane = lane;
        // A Java heap that is resident from the start: what grows after that is native memory.
        ProcessBuilder builder = new ProcessBuilder(command(lane, List.of("-Xms768m", "-Xmx768m", "-XX:+AlwaysPreTouch"),
                LaneMain.class)).redirectErrorStream(true);
        for (String variable : variables) {
            int end = variable.indexOf('=');
            builder.environment().put(variable.substring(0, end), variable.substring(end + 1));
        }
        process = builder.start();
        commands = process.outputWriter();
        reader = Thread.ofPlatform().daemon().name("output of lane " + lane).start(this::forwardOutput);
    }

    /** Starts a program on a lane, with this JVM's flags and properties. */
    static List<String> command(Lane lane, Class<?> program, String... arguments) {
        return command(lane, SMALL, program, arguments);
    }

    /** The same, with further flags of the JVM. */
    public static List<String> command(Lane lane, List<String> flags, Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            // A debugger's or a coverage agent's port or file cannot be used twice.
            if (!flag.startsWith("-agent") && !flag.startsWith("-javaagent")) {
                command.add(flag);
            }
        }
        // Surefire switches assertions on, and sets its properties, after the JVM has started.
        command.add("-ea");
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("io.github.nettyucx.") || name.startsWith("io.netty.")) {
                command.add("-D" + name + '=' + System.getProperty(name));
            }
        }
        command.add("-Dio.github.nettyucx.lanes=" + lane);
        command.add("-D" + Lane.PROPERTY + '=' + lane);
        command.addAll(flags);
        command.add("-cp");
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(program.getName());
        command.addAll(List.of(arguments));
        return command;
    }

    private void forwardOutput() {
        try (BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                int answer = line.indexOf(LaneMain.ANSWER);
                if (answer >= 0) {
                    answers.add(line.substring(answer + LaneMain.ANSWER.length()));
                } else {
                    System.out.println("[" + lane + "] " + line);
                }
            }
        } catch (IOException e) {
            System.out.println("[" + lane + "] " + e);
        } finally {
            answers.add(LaneMain.GONE);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Runs one test method, and fails as it does. */
    void run(Class<?> testClass, String method, Duration timeout) throws IOException, InterruptedException {
        commands.write(testClass.getName() + ' ' + method + '\n');
        commands.flush();
        String answer = answers.poll(timeout.toSeconds(), TimeUnit.SECONDS);
        if (answer == null) {
            dumpThreads();
            close();
            throw new AssertionFailedError(method + " on lane " + lane + " did not end within " + timeout.toSeconds()
                    + " s; see the thread dump in the output");
        }
        if (answer.equals(LaneMain.GONE)) {
            throw new AssertionFailedError("the JVM of lane " + lane + " ended with exit code " + process.waitFor()
                    + " during " + method + "; see its output");
        }
        LaneMain.check(answer, lane);
    }

    private void dumpThreads() throws IOException, InterruptedException {
        Path jstack = Path.of(System.getProperty("java.home"), "bin", "jstack");
        Process dump = new ProcessBuilder(jstack + "", process.pid() + "").inheritIO().start();
        if (!dump.waitFor(10, TimeUnit.SECONDS)) {
            dump.destroyForcibly();
        }
    }

    /** Ends the process, which has no test to run at the moment, or is stuck in one. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
