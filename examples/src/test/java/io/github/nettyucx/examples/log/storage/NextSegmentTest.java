// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The file of the next segment is made ahead. */
@Timeout(60)
class NextSegmentTest {
    private static final int PAYLOAD = 92;
    private static final int LENGTH = PAYLOAD + Records.HEADER;
    private static final int CAPACITY = 10 * LENGTH;

    @TempDir
    private Path directory;

    private PartitionLog open(Durability durability) throws IOException {
        return PartitionLog.open(directory, CAPACITY, durability);
    }

    private static ByteBuffer records(int count) {
        var all = UnpooledByteBufAllocator.DEFAULT.heapBuffer();
        for (var i = 0; i < count; i++) {
            Records.encode(all, new byte[PAYLOAD]);
        }
        return all.nioBuffer();
    }

    private Path next() {
        return directory.resolve(NextSegment.NAME);
    }

    /** @return the file, when it is whole */
    private static FileChannel take(NextSegment next) {
        for (var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30); System.nanoTime() < deadline;) {
            var made = next.take();
            if (made != null) {
                return made;
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("it is not made");
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void itIsFullOfZerosAndMadeOnce(Durability durability) throws Exception {
        assertMadeOnce(durability);
    }

    /** The system finds the memory; nothing is written. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void theSameInMemory(Durability durability) throws Exception {
        assumeTrue(RoomTest.isThereMemory(), "there is no file system in memory here");
        directory = Files.createTempDirectory(RoomTest.MEMORY, "log");
        try {
            assertMadeOnce(durability);
        } finally {
            Files.delete(directory);
        }
    }

    private void assertMadeOnce(Durability durability) throws IOException, InterruptedException {
        var next = new NextSegment(directory, 600 << 10, durability);
        assertNull(next.take());
        next.prepare();
        next.prepare();
        try (var made = take(next)) {
            assertEquals(600 << 10, made.size());
            assertTrue(RoomTest.bytesFound(next()) >= 600 << 10);
            assertEquals(-1, ByteBuffer.wrap(Files.readAllBytes(next())).mismatch(ByteBuffer.allocate(600 << 10)));
            assertNull(next.take());
        }
        next.prepare();
        next.close();
        assertFalse(Files.exists(next()));
    }

    /** Those of all partitions are made by one thread, one after the other. */
    @Test
    void whoEndsDoesNotWaitForTheFileOfAnother() throws Exception {
        var closed = new CountDownLatch(1);
        // Who waits for it gets on in the end, and finds that it is too late.
        var other = CompletableFuture.supplyAsync(() -> awaits(closed), NextSegment.THREAD);
        try {
            var next = new NextSegment(directory, CAPACITY, Durability.PAGE_CACHE);
            next.prepare();
            next.close();
            assertFalse(Files.exists(next()));
        } finally {
            closed.countDown();
        }
        assertTrue(other.get(), "it has been waited for");
    }

    private static boolean awaits(CountDownLatch latch) {
        try {
            return latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aSegmentBeginsInIt() throws Exception {
        for (var i = 0; i < 3; i++) {
            try (var log = open(Durability.PAGE_CACHE)) {
                for (var segment = 0; segment < 4; segment++) {
                    log.append(records(5));
                    log.append(records(5));
                    assertEquals(CAPACITY, log.active().size());
                    // In time, or not: nobody waits for it.
                    if (segment % 2 == 0) {
                        awaitWhole();
                    }
                    log.roll();
                    assertEquals(CAPACITY, Files.size(log.active().path()));
                    assertEquals(CAPACITY, log.active().capacity());
                }
                log.append(records(3));
                assertEquals(43 * (i + 1), log.nextOffset());
            }
            assertFalse(Files.exists(next()));
        }
    }

    private void awaitWhole() throws IOException {
        for (var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                !Files.exists(next()) || Files.size(next()) < CAPACITY;) {
            assertTrue(System.nanoTime() < deadline, "it is not made");
        }
    }

    @Test
    void whatAKilledProcessHasLeftIsRemoved() throws Exception {
        try (var channel = FileChannel.open(next(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(records(4));
        }
        try (var log = open(Durability.PAGE_CACHE)) {
            assertFalse(Files.exists(next()));
            assertEquals(0, log.nextOffset());
        }
    }

    @Test
    void withoutItASegmentBeginsAllTheSame() throws Exception {
        try (var log = open(Durability.PAGE_CACHE)) {
            Files.createDirectories(next().resolve("in the way"));
            for (var i = 0; i < 3; i++) {
                log.append(records(10));
                log.roll();
            }
            assertEquals(30, log.nextOffset());
            Files.delete(next().resolve("in the way"));
        }
    }

    /** As when there is no memory for the zeros. */
    @Test
    void whateverTheReasonOneThatCannotBeMadeIsNotThere() {
        var next = new NextSegment(directory, -1, Durability.PAGE_CACHE);
        next.prepare();
        next.close();
        assertFalse(Files.exists(next()));
        assertNull(next.take());
    }
}
