// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * How long threads could have run and had no processor, as the kernel counts it: what a busy machine keeps a loop from
 * doing. A loop that sleeps, waits or computes is not starved. Where the kernel does not count, nobody is.
 */
public final class Starvation implements AutoCloseable {

    private static final Path THREADS = Path.of("/proc/self/task");
    private static final String COUNTS = "schedstat";
    private static final int LINE = 128;

    private final List<FileChannel> counts = new ArrayList<>();
    private final ByteBuffer line = ByteBuffer.allocateDirect(LINE);

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

    /** Of all of them, so far. */
    public synchronized long nanos() {
        long all = 0;
        for (FileChannel count : counts) {
            try {
                line.clear();
                count.read(line, 0);
                line.flip();
                all += second(line);
            } catch (IOException e) {
                // The thread has ended.
            }
        }
        return all;
    }

    /** Of the numbers of a line: the time on a processor, the time in the queue for one, and how often it was given one. */
    private static long second(ByteBuffer line) {
        while (line.hasRemaining() && line.get() != ' ') {
            // The first number.
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
    }
}
