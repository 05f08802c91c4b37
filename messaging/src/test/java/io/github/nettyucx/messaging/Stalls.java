// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.util.concurrent.EventExecutor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What the machine delays, and nobody else. A thread that shares nothing with the nodes takes short naps: when one is long,
 * the whole process may have been held up. And it asks the kernel how long an event loop has waited for a processor.
 */
final class Stalls implements AutoCloseable {

    private static final long NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private record Gap(long from, long to) {
    }

    private final Path schedule;
    private final Thread thread;
    private volatile boolean ended;
    // Of the thread, until it has ended.
    private final List<Gap> gaps = new ArrayList<>();
    /** What the loop has waited until then. */
    private final TreeMap<Long, Long> waited = new TreeMap<>();

    Stalls(EventExecutor loop) throws Exception {
        schedule = Path.of("/proc").resolve(loop.submit(() -> Files.readSymbolicLink(Path.of("/proc/thread-self"))).get())
                .resolve("schedstat");
        look();
        thread = Thread.ofPlatform().daemon().name("stalls").start(this::watch);
    }

    private void watch() {
        long last = System.nanoTime();
        while (!ended) {
            LockSupport.parkNanos(NAP_NANOS);
            long now = System.nanoTime();
            if (now - last > LONG_NANOS) {
                gaps.add(new Gap(last, now));
            }
            last = now;
            look();
        }
        look();
    }

    private void look() {
        long now = System.nanoTime();
        try {
            // Not each kernel counts it.
            waited.put(now, Files.exists(schedule) ? Long.parseLong(Files.readString(schedule).split(" ")[1]) : 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** No more is watched. */
    @Override
    public void close() throws InterruptedException {
        ended = true;
        thread.join();
    }

    /** Nanoseconds of that time that are the machine's. After the end. */
    long between(long from, long to) {
        long stalled = waited.ceilingEntry(to).getValue() - waited.floorEntry(from).getValue();
        for (Gap gap : gaps) {
            stalled += Math.max(0, Math.min(to, gap.to) - Math.max(from, gap.from));
        }
        return stalled;
    }
}
