// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A JVM with UCX in it is as healthy as one without. */
@Timeout(120)
@Tag("faults")
@Tag("in-every-build")
class JvmHealthTest {

    private static final int SIGNAL_EXIT = 128;
    private static final int ABORT = 6;
    private static final int TERM = 15;
    private static final int HUP = 1;

    @TempDir
    private Path directory;

    private record Result(int exitCode, String output) {

        void assertPassed() {
            assertEquals(0, exitCode, output);
            assertTrue(output.contains(JvmHealthMain.PASSED), output);
        }
    }

    private Process start(List<String> launcher, List<String> flags, String... actions) throws IOException {
        List<String> command = new ArrayList<>(LaneJvm.command(Lane.SHM, List.of(), JvmHealthMain.class, actions));
        // Small heaps, of which several fit beside each other, and which a garbage collector has to work with.
        command.removeIf(flag -> flag.startsWith("-Xm"));
        command.addAll(1, List.of("-Xmx256m", "-XX:ErrorFile=" + directory.resolve("hs_err.log")));
        command.addAll(1, flags);
        command.addAll(0, launcher);
        return new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    }

    private Result run(List<String> flags, String... actions) throws Exception {
        Process process = start(List.of(), flags, actions);
        String output = new String(process.getInputStream().readAllBytes());
        return new Result(process.waitFor(), output);
    }

    @Test
    void nullPointersAndStackOverflowsAreExceptionsAsEver() throws Exception {
        Result result = run(List.of(), "transfer", "faults");
        result.assertPassed();
        System.out.println(result.output());
    }

    @Test
    void ucxTakesNoSignalOfTheJvms() throws Exception {
        run(List.of(), "transfer", "handlers").assertPassed();
    }

    @Test
    void aCrashIsReportedByTheJvm() throws Exception {
        Result result = run(List.of(), "transfer", "crash");
        assertEquals(SIGNAL_EXIT + ABORT, result.exitCode(), result::output);
        assertTrue(result.output().contains("A fatal error has been detected by the Java Runtime Environment"),
                result::output);
        String report = Files.readString(directory.resolve("hs_err.log"));
        assertTrue(report.contains("SIGSEGV"), report);
        assertTrue(report.contains("JvmHealthMain.crash"), report);
        assertFalse(result.output().contains("Caught signal"), "UCX has a report of its own");
    }

    @ParameterizedTest
    @ValueSource(ints = {TERM, HUP})
    void aSignalEndsTheJvmInGoodOrder(int signal) throws Exception {
        // Who has been started with nohup ignores SIGHUP, and so do all children.
        Process process = start(List.of("env", "--default-signal=HUP,TERM"), List.of(), "wait");
        StringBuilder output = new StringBuilder();
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                output.append(line).append('\n');
                if (line.equals(JvmHealthMain.READY)) {
                    assertEquals(0, new ProcessBuilder("kill", "-" + signal, process.pid() + "").start().waitFor());
                }
            }
        }
        assertTrue(process.waitFor(10, TimeUnit.SECONDS));
        assertEquals(SIGNAL_EXIT + signal, process.exitValue(), output::toString);
        assertTrue(output.toString().contains(JvmHealthMain.HOOK), output::toString);
    }

    @Test
    void theJvmsChecksOfNativeCodeFindNothing() throws Exception {
        Result result = run(List.of("-Xcheck:jni"), "transfer");
        result.assertPassed();
        assertFalse(result.output().contains("WARNING in native method"), result::output);
        assertFalse(result.output().contains("FATAL ERROR in native method"), result::output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseZGC", "-XX:+UseG1GC", "-XX:+UseParallelGC", "-XX:+UseSerialGC"})
    void everyByteArrivesWithEachGarbageCollector(String collector) throws Exception {
        run(List.of(collector), "transfer").assertPassed();
    }
}
