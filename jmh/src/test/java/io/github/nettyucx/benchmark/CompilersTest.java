// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CompilersTest {
    /** By the JVM's own account; the system counts in hundredths of a second. */
    private static final long COMPILED_MILLIS = 200;

    /** If it were blind, code that is being compiled would be measured without a word. */
    @Test
    void seesThatThisProcessCompiles() throws Exception {
        var compilation = ManagementFactory.getCompilationMXBean();
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (compilation.getTotalCompilationTime() < COMPILED_MILLIS && System.nanoTime() < deadline) {
            String.format("%s %d %.3f", "some", System.nanoTime(), Math.random());
        }
        assertTrue(new Compilers(ProcessHandle.current().pid()).nanos() > 0);
    }

    @Test
    void aProcessThatHasEndedCompilesNothing() throws Exception {
        var ended = new ProcessBuilder("true").start();
        ended.waitFor();
        assertEquals(0, new Compilers(ended.pid()).nanos());
    }
}
