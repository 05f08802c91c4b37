// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import com.sun.management.ThreadMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What this process has used until now.
 *
 * @param nanoTime when this was
 * @param cpuNanos of all its threads that live, but for the JIT compilers': those go on for minutes after what they compile
 * @param memoryBytes its proportional set size, with the Java heap as far as it was ever touched
 * @param heapBytes of the Java heap in use
 * @param fds open file descriptors
 * @param loopBytes of Java heap that the event loops' threads have allocated
 * @param loopNanos of processor time that the event loops' threads have taken
 */
record ProcessState(long nanoTime, long cpuNanos, long memoryBytes, long heapBytes, long fds, long loopBytes,
                    long loopNanos) {
    private static final Path THREADS = Path.of("/proc/self/task");
    private static final Path MEMORY = Path.of("/proc/self/smaps_rollup");
    private static final int COLLECTIONS = 3;

    /**
     * @param loopThreads identifiers of the event loops' threads
     */
    static ProcessState now(long[] loopThreads) {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var allocated = 0L;
        var busy = 0L;
        for (var thread : loopThreads) {
            allocated += threads.getThreadAllocatedBytes(thread);
            busy += threads.getThreadCpuTime(thread);
        }
        var system = ManagementFactory.getOperatingSystemMXBean();
        var runtime = Runtime.getRuntime();
        return new ProcessState(System.nanoTime(), readCpuNanos(), readMemoryBytes(),
                runtime.totalMemory() - runtime.freeMemory(),
                ((UnixOperatingSystemMXBean) system).getOpenFileDescriptorCount(), allocated, busy);
    }

    /** So that the heap in use is what is reachable. */
    static void collectGarbage() {
        for (var i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
    }

    private static long readCpuNanos() {
        var nanos = 0L;
        try (var threads = Files.newDirectoryStream(THREADS)) {
            for (var thread : threads) {
                nanos += readCpuNanos(thread);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (nanos == 0) {
            throw new IllegalStateException("this kernel does not tell threads' times in " + THREADS + "/*/schedstat");
        }
        return nanos;
    }

    private static long readCpuNanos(Path thread) {
        try {
            // Its first number is the time on a processor.
            return Compilers.isCompiler(thread) ? 0
                    : Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
        } catch (IOException _) {
            return 0; // The thread has ended meanwhile.
        }
    }

    private static long readMemoryBytes() {
        try (var lines = Files.lines(MEMORY)) {
            return lines.filter(line -> line.startsWith("Pss:")).findFirst()
                    .map(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024).orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of memory, in bytes; the heap's pages are all touched when a process starts, so only its contents count. */
    long memorySince(ProcessState before) {
        return memoryBytes - before.memoryBytes + heapBytes - before.heapBytes;
    }

    /** Of one processor's time. */
    double cpuShareSince(ProcessState before) {
        return (double) (cpuNanos - before.cpuNanos) / (nanoTime - before.nanoTime);
    }
}
