// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * How long threads could have run and had no processor, as the kernel counts it: what a busy machine keeps a loop from
 * doing. A loop that sleeps, waits or computes is not starved. Where the kernel does not count, nobody is.
 * <p>
 * A virtual machine's host may take a processor away for a while. That counts as well, for all processors together: the
 * kernel does not tell which thread would have run on it (proc_stat(5), "steal").
 */
public final class Starvation implements AutoCloseable {

    private static final Path THREADS = Path.of("/proc/self/task");
    private static final String COUNTS = "schedstat";
    private static final int LINE = 128;
    private static final Path MACHINE = Path.of("/proc/stat");
    /** Of its first line, that of all processors. */
    private static final int STEAL_FIELD = 8;
    /** USER_HZ, which is the same on all platforms of today. */
    private static final long NANOS_PER_TICK = TimeUnit.SECONDS.toNanos(1) / 100;
    /** To read it takes longer than to read the others. What was read up to so long ago is taken again. */
    private static final long STEAL_READ_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final List<FileChannel> counts = new ArrayList<>();
    private final ByteBuffer line = ByteBuffer.allocateDirect(LINE);
    private final FileChannel machine = open(MACHINE);
    private long stolen;
    private long stolenReadNanos;

    /** The thread that calls. */
    public void addCaller() throws IOException {
        // Such as 17/task/19.
        add(THREADS.resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName()));
    }

    /** All loops of a group of this process. */
    public void add(EventLoopGroup group) throws Exception {
        for (EventExecutor loop : group) {
            loop.submit(() -> {
                addCaller();
                return null;
            }).get();
        }
    }

    /** All threads of another process whose names begin so; the kernel keeps 15 characters of them. */
    public void add(long process, String name) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
            for (Path thread : threads.toList()) {
                if (Files.readString(thread.resolve("comm")).startsWith(name)) {
                    add(thread);
                }
            }
        }
    }

    private synchronized void add(Path thread) throws IOException {
        Path file = thread.resolve(COUNTS);
        if (Files.exists(file)) {
            counts.add(FileChannel.open(file));
        }
    }

    synchronized int threads() {
        return counts.size();
    }

    /** Of all of them, and of the machine, so far. */
    public synchronized long nanos() {
        return queuedNanos() + stolenNanos();
    }

    /** For how long they have waited for a processor that others of this machine had. */
    synchronized long queuedNanos() {
        long all = 0;
        for (FileChannel count : counts) {
            try {
                all += field(count, 1);
            } catch (IOException e) {
                // The thread has ended.
            }
        }
        return all;
    }

    private long stolenNanos() {
        long now = System.nanoTime();
        if (stolenReadNanos == 0 || now - stolenReadNanos >= STEAL_READ_NANOS) {
            stolenReadNanos = now;
            try {
                // Two spaces are behind the name.
                stolen = field(machine, STEAL_FIELD + 1) * NANOS_PER_TICK;
            } catch (IOException e) {
                // Closed: nobody is watched any more.
            }
        }
        return stolen;
    }

    private static FileChannel open(Path file) {
        try {
            return FileChannel.open(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long field(FileChannel file, int index) throws IOException {
        line.clear();
        file.read(line, 0);
        line.flip();
        return number(line, index);
    }

    /**
     * Of a thread's line: the time on a processor, the time in the queue for one, and how often it was given one.
     *
     * @param index of the number, behind as many spaces
     */
    private static long number(ByteBuffer line, int index) {
        for (int spaces = 0; spaces < index && line.hasRemaining();) {
            if (line.get() == ' ') {
                spaces++;
            }
        }
        long number = 0;
        while (line.hasRemaining()) {
            byte digit = line.get();
            if (digit == ' ') {
                break;
            }
            number = number * 10 + digit - '0';
        }
        return number;
    }

    @Override
    public synchronized void close() throws IOException {
        for (FileChannel count : counts) {
            count.close();
        }
        counts.clear();
        machine.close();
    }
}
