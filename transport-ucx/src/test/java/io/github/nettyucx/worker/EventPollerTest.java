// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class EventPollerTest {

    /** More than the poller had, so that its numbers are among theirs. */
    private static final int FILES = 32;
    private static final int FAILURES = 500;
    /** EPOLLEXCLUSIVE and EPOLLONESHOT, which epoll has not both at once. */
    private static final int REFUSED = 1 << 28 | 1 << 30;

    /** A thread may come to wake a loop that ends at that moment. */
    @Test
    void aWakeupAfterTheCloseWritesIntoNobodysFile(@TempDir Path directory) throws Exception {
        EventPoller poller = new EventPoller();
        poller.close();
        List<OutputStream> files = new ArrayList<>();
        try {
            for (int i = 0; i < FILES; i++) {
                files.add(Files.newOutputStream(directory.resolve("file" + i)));
            }
            poller.wakeup();
            for (int i = 0; i < FILES; i++) {
                assertEquals(0, Files.size(directory.resolve("file" + i)), "bytes in file " + i);
            }
        } finally {
            for (OutputStream file : files) {
                file.close();
            }
        }
    }

    /** A loop tries again each second. */
    @Test
    void aPollerThatCannotBeMadeLeavesNoDescriptors() {
        int descriptors = descriptors();
        for (int i = 0; i < FAILURES; i++) {
            IOException refused = assertThrows(IOException.class, () -> new EventPoller(REFUSED));
            assertEquals("epoll_ctl(eventfd) failed, errno 22", refused.getMessage());
        }
        assertTrue(descriptors() - descriptors < FAILURES / 2, () -> "descriptors: " + descriptors());
    }

    private static int descriptors() {
        return Objects.requireNonNull(new File("/proc/self/fd").list()).length;
    }

    @Test
    void aWakeupEndsTheNextWaitAndNoFurtherOne() throws Exception {
        try (EventPoller poller = new EventPoller()) {
            poller.wakeup();
            long start = System.nanoTime();
            poller.await(TimeUnit.SECONDS.toNanos(30));
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(15), "the wake-up was lost");
            start = System.nanoTime();
            poller.await(TimeUnit.MILLISECONDS.toNanos(50));
            assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(50), "woken twice");
        }
    }
}
