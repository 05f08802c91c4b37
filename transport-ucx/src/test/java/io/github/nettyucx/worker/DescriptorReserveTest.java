// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DescriptorReserveTest {

    private int used;

    @ParameterizedTest
    @CsvSource({"200, 32", "1024, 64", "65536, 256", "2147483647, 256"})
    void theLastOnesAreKept(int limit, int reserve) {
        DescriptorReserve descriptors = new DescriptorReserve(limit, () -> used, true);
        used = limit - reserve;
        assertDoesNotThrow(descriptors::check);
        used++;
        String message = assertThrows(IOException.class, descriptors::check).getMessage();
        assertTrue(message.startsWith("too many open files: " + used + " of " + limit + " descriptors are in use"), message);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsClosedIsNoticedAtOnce(boolean countIsCheap) {
        DescriptorReserve descriptors = new DescriptorReserve(1000, () -> used, countIsCheap);
        used = 1000;
        assertThrows(IOException.class, descriptors::check);
        used = 100;
        assertDoesNotThrow(descriptors::check);
    }

    /** Where counting costs something: what is made meanwhile is taken to need as many as it can. */
    @Test
    void aCountThatIsNotCheapIsTakenWhenDescriptorsMayBeFew() {
        AtomicInteger counts = new AtomicInteger();
        DescriptorReserve descriptors = new DescriptorReserve(1000, () -> {
            counts.incrementAndGet();
            return used;
        }, false);
        used = 500;
        for (int i = 0; i < 20; i++) {
            assertDoesNotThrow(descriptors::check);
        }
        int rarely = counts.get();
        assertTrue(rarely < 5, rarely + " counts");
        used = 950;
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 60; i++) {
                descriptors.check();
            }
        });
    }

    @Test
    void withoutADescriptorToCountThemNothingIsMade() {
        IOException failure = new IOException("Too many open files");
        DescriptorReserve descriptors = new DescriptorReserve(1000, () -> {
            throw failure;
        }, false);
        assertEquals(failure, assertThrows(IOException.class, descriptors::check));
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
        assertDoesNotThrow(DescriptorReserve.PROCESS::check);
    }
}
