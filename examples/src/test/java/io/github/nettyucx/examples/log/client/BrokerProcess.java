// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.log.RecordLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A broker of the log in a process of its own, which can be stopped and killed. Its segments have 64 KiB, unless it is said. */
final class BrokerProcess implements AutoCloseable {
    private static final String LISTENING = "listening ";
    /** A machine that is busy with other things takes its time to start processes. */
    private static final long SECONDS = 240;
    private static final long DESCRIBE_SECONDS = 10;
    /** So {@link io.github.nettyucx.examples.log.broker.LogBroker#describe} begins. */
    private static final String DESCRIPTION = "it is ";

    private final ChildProcess process;
    private final HostAndPort address;

    private BrokerProcess(ChildProcess process, HostAndPort address) {
        this.process = process;
        this.address = address;
    }

    static BrokerProcess start(String name, Path directory, String... more) throws Exception {
        return start(name, List.of(), LogFixture.ANY_PORT, directory, more);
    }

    static BrokerProcess start(String name, List<String> jvmOptions, HostAndPort address, Path directory, String... more)
            throws Exception {
        var arguments = new ArrayList<>(List.of("--server", address.toString(), "--directory", directory.toString(),
                RecordLog.CHILD_OPTION));
        arguments.addAll(List.of(more));
        if (!arguments.contains("--segment")) {
            arguments.addAll(List.of("--segment", "64k"));
        }
        var process = ChildProcess.start(name, List.of(), jvmOptions, RecordLog.class, arguments,
                line -> line.startsWith(LISTENING) || line.startsWith("failure "));
        try {
            var line = process.nextReport(TimeUnit.SECONDS.toMillis(SECONDS));
            assertTrue(line != null && line.startsWith(LISTENING), () -> name + " says " + line + "; errors: "
                    + process.errors());
            return new BrokerProcess(process, HostAndPort.parse(line.substring(LISTENING.length())));
        } catch (Exception | AssertionError e) {
            process.close();
            throw e;
        }
    }

    HostAndPort address() {
        return address;
    }

    /** What it has said last on standard error. */
    List<String> errors() {
        return process.errors();
    }

    /** What it says that it is about, and what its threads do; for who looks for the reason of something. */
    String describe() throws Exception {
        if (process.endsWithin(0)) {
            return String.join("\n   ", errors()) + "\n   and has ended";
        }
        process.tell("How are things?");
        var threads = Files.createTempFile("threads", ".txt");
        try {
            var dump = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                    Long.toString(process.pid()), "Thread.print").redirectErrorStream(true).redirectOutput(threads.toFile())
                    .start();
            if (!dump.waitFor(DESCRIBE_SECONDS, TimeUnit.SECONDS)) {
                dump.destroyForcibly().waitFor();
            }
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DESCRIBE_SECONDS);
            while (errors().stream().noneMatch(line -> line.startsWith(DESCRIPTION)) && System.nanoTime() < deadline) {
                // Between two looks: another thread reads what it says.
                Thread.sleep(10);
            }
            return String.join("\n   ", errors()) + "\n" + Files.readString(threads);
        } finally {
            Files.delete(threads);
        }
    }

    /** By SIGSTOP; it does nothing more when this returns. */
    void pause() throws Exception {
        signal("STOP");
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!hasStopped()) {
            assertTrue(System.nanoTime() < deadline, "it does not stop");
            Thread.onSpinWait();
        }
    }

    /** One thread takes the signal, and the others go on until they hear of it. */
    private boolean hasStopped() throws IOException {
        try (var threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
            for (var thread : threads) {
                try {
                    var stat = Files.readString(thread.resolve("stat"));
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

    boolean isAlive() throws Exception {
        return !process.endsWithin(0);
    }

    void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start().waitFor());
    }

    void stop() throws Exception {
        process.stop();
    }

    /** By SIGKILL; it is gone when this returns. */
    void kill() throws Exception {
        process.close();
        assertTrue(process.endsWithin(TimeUnit.SECONDS.toMillis(SECONDS)));
    }

    @Override
    public void close() {
        process.close();
    }
}
