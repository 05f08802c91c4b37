// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The JIT compilers of some JVMs. Unlike {@link java.lang.management.CompilationMXBean} this sees those of other
 * processes, and what they have begun but not ended: large methods take seconds on a processor that has to be shared.
 */
final class Compilers {
    /** Linux counts processor time for users in hundredths of a second, whatever its own clock. */
    private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1) / 100;
    /** Linux cuts the names of threads after 15 characters. */
    private static final List<String> NAMES = List.of("C1 CompilerThre", "C2 CompilerThre");
    /** The fields after the name, which is in brackets and may contain anything: proc_pid_stat(5) counts them from 3. */
    private static final int USER_TIME = 14 - 3;
    private static final int SYSTEM_TIME = 15 - 3;

    private final List<Path> processes;

    Compilers(long... pids) {
        // Both sides may be in one.
        processes = Arrays.stream(pids).distinct().mapToObj(pid -> Path.of("/proc/" + pid + "/task")).toList();
    }

    /**
     * The processor time that they have taken so far, in nanoseconds, in steps of 10 ms. A JVM ends compiler threads that
     * have been idle, and what they had taken is missing from then on.
     */
    long nanos() {
        var ticks = 0L;
        for (var process : processes) {
            try (var threads = Files.newDirectoryStream(process)) {
                for (var thread : threads) {
                    ticks += ticks(thread);
                }
            } catch (IOException | DirectoryIteratorException _) {
                // A process that has ended compiles nothing; that it has ended is for others to tell.
            }
        }
        return ticks * TICK_NANOS;
    }

    /** @param thread its directory in {@code /proc} */
    static boolean isCompiler(Path thread) throws IOException {
        return NAMES.contains(Files.readString(thread.resolve("comm")).strip());
    }

    private static long ticks(Path thread) {
        try {
            if (!isCompiler(thread)) {
                return 0;
            }
            var stat = Files.readString(thread.resolve("stat"));
            var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME]);
        } catch (IOException _) {
            return 0; // The thread has ended meanwhile.
        }
    }
}
