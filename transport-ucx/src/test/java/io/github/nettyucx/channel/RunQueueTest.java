// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class RunQueueTest {

    @TempDir
    private Path directory;

    private RunQueue over(Path file, String content) throws Exception {
        Files.writeString(file, content);
        return new RunQueue(file.toString());
    }

    /** What counts is what has been added since the last time. */
    @Test
    void waitingForMoreThanAQuarterOfWhatIsRunIsSharing() throws Exception {
        Path file = directory.resolve("schedstat");
        RunQueue queue = over(file, "1000000 250000 7\n");
        assertFalse(queue.isShared());
        Files.writeString(file, "2000000 500001 9\n");
        assertTrue(queue.isShared());
        Files.writeString(file, "12000000 3000001 9999\n");
        assertFalse(queue.isShared());
        assertFalse(queue.isShared(), "nothing has happened since");
    }

    @Test
    void whatIsNotKnownIsNoSharing() throws Exception {
        for (String content : List.of("", "\n", "12", "1 2", "-", "one two three\n")) {
            assertFalse(over(directory.resolve("schedstat"), content).isShared(), content);
        }
        Path absent = directory.resolve("absent");
        RunQueue queue = new RunQueue(absent.toString());
        assertFalse(queue.isShared());
        Files.writeString(absent, "1 1000000 1\n");
        assertTrue(queue.isShared(), "there were no descriptors, maybe: it is tried again");
    }

    /** Of the thread that asks, by the kernel's own figures. */
    @Test
    @Timeout(60)
    void aThreadAmongMoreThanThereAreProcessorsShares() throws Exception {
        assumeTrue(Files.isReadable(Path.of(RunQueue.FILE)), "this kernel does not tell how long threads wait");
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            others.add(Thread.ofPlatform().start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    Thread.onSpinWait();
                }
            }));
        }
        try {
            RunQueue queue = new RunQueue();
            queue.isShared();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            boolean shared = false;
            while (!shared && System.nanoTime() < end) {
                long slice = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
                while (System.nanoTime() < slice) {
                    Thread.onSpinWait();
                }
                shared = queue.isShared();
            }
            assertTrue(shared);
        } finally {
            others.forEach(Thread::interrupt);
            for (Thread other : others) {
                other.join();
            }
        }
    }
}
