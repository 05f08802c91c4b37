// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The file that will be the next segment of a partition, full of zeros: a thread of its own has the system find the memory,
 * or the disk's blocks, for it, so that an append finds them there. If it is not done in time, it is for a later segment.
 * All methods are for one thread.
 */
final class NextSegment {
    /** Of the file until it gets its own name. A process that is killed may leave it. */
    static final String NAME = "next";
    private static final int PIECE = 256 << 10;
    /** So many segments have to be free for one to be made. */
    private static final long SPARE = 2;
    /**
     * There it is enough that the system has found memory. Elsewhere that would be the disk's blocks, and an append would
     * still have to find memory for them.
     */
    private static final String MEMORY = "tmpfs";
    /** Of all partitions. */
    static final Executor THREAD = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("log-next-segment").factory());

    private final Path file;
    private final int capacity;
    private final Durability durability;
    /** {@code null} as long as nobody has asked for it. Has {@code null} if it could not be made. */
    private CompletableFuture<FileChannel> making;
    /** Of what is being made: by the thread, or by who closes it before the thread has come to it. */
    private AtomicBoolean begun;
    private volatile boolean closed;

    NextSegment(Path directory, int capacity, Durability durability) {
        file = directory.resolve(NAME);
        this.capacity = capacity;
        this.durability = durability;
    }

    /** Begins to make it, unless that has been begun. */
    void prepare() {
        if (making == null) {
            var ours = new AtomicBoolean();
            begun = ours;
            try {
                making = CompletableFuture.supplyAsync(() -> ours.compareAndSet(false, true) ? make() : null, THREAD);
            } catch (RuntimeException | OutOfMemoryError e) {
                // No thread can be had now. What has been appended is in the file all the same.
                making = null;
            }
        }
    }

    private FileChannel make() {
        FileChannel channel = null;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.READ, StandardOpenOption.WRITE);
            var store = Files.getFileStore(file);
            if (store.getUsableSpace() < SPARE * capacity) {
                // It would take what others append to, who have no blocks yet.
                discard(channel);
                return null;
            }
            var zeros = ByteBuffer.allocateDirect(Math.min(PIECE, capacity));
            var isMemory = store.type().equals(MEMORY);
            for (var at = 0; at < capacity && !closed;) {
                var length = Math.min(zeros.capacity(), capacity - at);
                at += isMemory && Room.find(file, at, length) ? length : channel.write(zeros.clear().limit(length), at);
            }
            if (!closed) {
                durability.persist(channel);
                return channel;
            }
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            // Whoever appends will be told why, if the system cannot do that either.
        }
        discard(channel);
        return null;
    }

    private void discard(FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // It is made anew, or is removed when the log is opened.
        }
    }

    /** @return the file, which has to be given its name; {@code null} if there is none yet */
    FileChannel take() {
        if (making == null || !making.isDone()) {
            return null;
        }
        var made = making.join();
        making = null;
        return made;
    }

    Path file() {
        return file;
    }

    /** Nothing is left of it. Waits for a piece of it to be written, and for none of other partitions' files. */
    void close() {
        if (making != null) {
            closed = true;
            discard(begun.compareAndSet(false, true) ? null : making.join());
            making = null;
        }
    }
}
