// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * How a program without input ended, and what it printed.
 *
 * @param output on standard output and standard error
 */
public record ProgramRun(int exitCode, String output) {
    /**
     * Waits for its end.
     *
     * @throws IOException if it cannot be run, or has not ended in time and is killed
     */
    public static ProgramRun of(ProcessBuilder program, long seconds) throws IOException, InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        var process = StartedProcesses.start(program.redirectErrorStream(true));
        try {
            process.getOutputStream().close();
            // On another thread: a program that hangs keeps its output open.
            var reading = new FutureTask<>(process.getInputStream()::readAllBytes);
            Thread.ofPlatform().daemon().name("program-output").start(reading);
            var output = new String(reading.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS),
                    StandardCharsets.UTF_8);
            if (process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return new ProgramRun(process.exitValue(), output);
            }
        } catch (ExecutionException e) {
            throw new IOException("what it prints cannot be read: " + e.getCause().getMessage(), e);
        } catch (TimeoutException e) {
            // Told below.
        } finally {
            process.destroyForcibly();
        }
        throw new IOException("it did not end within " + seconds + " s");
    }
}
