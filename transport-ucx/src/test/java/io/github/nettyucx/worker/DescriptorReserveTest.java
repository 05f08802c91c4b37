// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DescriptorReserveTest {

    private static final long MILLISECOND = 1_000_000;

    private int used;
    private volatile long now;

    private DescriptorReserve reserve(int limit, DescriptorReserve.Count count, boolean countIsCheap) {
        return new DescriptorReserve(limit, count, countIsCheap, () -> now);
    }

    @ParameterizedTest
    @CsvSource({"200, 32", "1024, 64", "65536, 256", "2147483647, 256"})
    void theLastOnesAreKept(int limit, int reserve) {
        DescriptorReserve descriptors = reserve(limit, () -> used, true);
        used = limit - reserve;
        assertDoesNotThrow(descriptors::beginWorker);
        assertFalse(descriptors.isFew(used));
        used++;
        assertTrue(descriptors.isFew(used));
        String message = assertThrows(IOException.class, descriptors::beginWorker).getMessage();
        assertTrue(message.startsWith("too many open files: " + used + " of " + limit + " descriptors are in use"), message);
    }

    @Test
    void whatIsClosedIsNoticedAtOnce() {
        DescriptorReserve descriptors = reserve(1000, () -> used, true);
        used = 1000;
        assertThrows(IOException.class, descriptors::beginWorker);
        used = 100;
        assertDoesNotThrow(descriptors::beginWorker);
    }

    /** Many connections may be refused one after the other, and the loops have others to serve. */
    @Test
    void aCountThatIsNotCheapIsNotTakenForEachConnectionThatIsRefused() {
        AtomicInteger counts = new AtomicInteger();
        DescriptorReserve descriptors = reserve(1000, () -> {
            counts.incrementAndGet();
            return used;
        }, false);
        used = 1000;
        for (int i = 0; i < 1000; i++) {
            assertThrows(IOException.class, descriptors::beginConnecting);
            now += DescriptorReserve.COUNT_AGE_NANOS / 1000;
        }
        assertEquals(1, counts.get(), "counts");
        used = 100;
        assertDoesNotThrow(descriptors::beginConnecting);
        assertEquals(2, counts.get(), "counts");
    }

    /** As long as the listing of a hundred thousand takes. */
    @Test
    void countingTakesASmallPartOfTheTime() {
        long start = now;
        AtomicInteger counts = new AtomicInteger();
        DescriptorReserve descriptors = reserve(1000, () -> {
            counts.incrementAndGet();
            now += 300 * MILLISECOND;
            return used;
        }, false);
        used = 1000;
        while (counts.get() < 10) {
            assertThrows(IOException.class, descriptors::beginConnecting);
            now += MILLISECOND;
        }
        assertTrue((now - start) / MILLISECOND >= 9 * DescriptorReserve.COUNTING_PART * 300, () -> now - start + " ns");
    }

    @Test
    void nobodyWaitsForSomebodyElseWhoCounts() throws Exception {
        CountDownLatch counting = new CountDownLatch(1);
        CountDownLatch others = new CountDownLatch(1);
        DescriptorReserve descriptors = reserve(1000, () -> {
            if (now > 0) {
                counting.countDown();
                await(others);
            }
            return used;
        }, false);
        used = 100;
        descriptors.beginConnecting();
        now = DescriptorReserve.COUNT_AGE_NANOS;
        CompletableFuture<Void> counts = CompletableFuture.runAsync(
                () -> assertDoesNotThrow(descriptors::beginConnecting));
        await(counting);
        // Before the other one has counted.
        descriptors.beginConnecting();
        descriptors.endConnecting(true);
        others.countDown();
        counts.get(10, TimeUnit.SECONDS);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(10, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void connectionsThatAreMadeAtOnceLeaveEachOtherWhatTheyAreGoingToTake(boolean countIsCheap) throws Exception {
        DescriptorReserve descriptors = reserve(1024, () -> used, countIsCheap);
        used = 150;
        String message = beginUntilRefused(descriptors);
        int made = used - 150;
        assertTrue(made >= 200, made + " connections");
        assertTrue(150 + made * 4 <= 1024 - 64 + 4, made + " connections");
        String ofOthers = ", " + made + " connection(s) that are being made take up to " + made * 3 + " more, ";
        assertTrue(message.contains(ofOthers), message);
        // Established, with all that they have.
        used = 150 + 3 * made;
        for (int i = 0; i < made; i++) {
            descriptors.endConnecting(true);
        }
        now += DescriptorReserve.COUNT_AGE_NANOS;
        beginUntilRefused(descriptors);
        int second = used - 150 - 3 * made;
        assertTrue(second >= 45 && used + second * 3 <= 1024 - 64 + 4, second + " more");
        // They come to nothing.
        used = 150;
        for (int i = 0; i < second; i++) {
            descriptors.endConnecting(false);
        }
        now += DescriptorReserve.COUNT_AGE_NANOS;
        beginUntilRefused(descriptors);
        assertEquals(made, used - 150, "as at first");
    }

    /** Each takes one descriptor at once. */
    private String beginUntilRefused(DescriptorReserve descriptors) {
        return assertThrows(IOException.class, () -> {
            for (;;) {
                descriptors.beginConnecting();
                used++;
            }
        }).getMessage();
    }

    /** Where counting costs something: what is made meanwhile is taken to need as many as it can. */
    @Test
    void aCountThatIsNotCheapIsTakenNowAndThen() {
        AtomicInteger counts = new AtomicInteger();
        DescriptorReserve descriptors = reserve(1000, () -> {
            counts.incrementAndGet();
            return used;
        }, false);
        used = 500;
        for (int i = 0; i < 20; i++) {
            assertDoesNotThrow(descriptors::beginWorker);
        }
        assertEquals(1, counts.get(), "counts");
        used = 950;
        now += DescriptorReserve.COUNT_AGE_NANOS;
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 60; i++) {
                descriptors.beginWorker();
            }
        });
    }

    @Test
    void withoutADescriptorToCountThemNothingIsMade() {
        IOException failure = new IOException("Too many open files");
        DescriptorReserve descriptors = reserve(1000, () -> {
            throw failure;
        }, false);
        assertEquals(failure, assertThrows(IOException.class, descriptors::beginWorker));
    }

    @Test
    void countsThoseOfTheProcess() throws Exception {
        int before = DescriptorReserve.inUse();
        int listedBefore = DescriptorReserve.listed();
        List<InputStream> opened = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                opened.add(Files.newInputStream(Path.of("/proc/self/status")));
            }
            assertEquals(100.0, DescriptorReserve.inUse() - before, 20, "but for what the JVM opens and closes meanwhile");
            assertEquals(100.0, DescriptorReserve.listed() - listedBefore, 20, "but for what the JVM opens and closes");
        } finally {
            for (InputStream each : opened) {
                each.close();
            }
        }
        assertDoesNotThrow(DescriptorReserve.PROCESS::beginWorker);
    }
}
