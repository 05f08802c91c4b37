// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class EpollTest {

    /** More than the instance had, so that its numbers are among theirs. */
    private static final int FILES = 32;
    private static final int FAILURES = 500;
    /** EPOLLEXCLUSIVE and EPOLLONESHOT, which epoll has not both at once. */
    private static final int REFUSED = 1 << 28 | 1 << 30;
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long A_WHILE = TimeUnit.SECONDS.toNanos(15);

    /** A thread may come to wake a loop that ends at that moment. */
    @Test
    void aWakeupAfterTheCloseWritesIntoNobodysFile(@TempDir Path directory) throws Exception {
        Epoll epoll = new Epoll();
        epoll.close();
        List<OutputStream> files = new ArrayList<>();
        try {
            for (int i = 0; i < FILES; i++) {
                files.add(Files.newOutputStream(directory.resolve("file" + i)));
            }
            epoll.wakeup();
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
    void oneThatCannotBeMadeLeavesNoDescriptors() {
        int descriptors = descriptors();
        for (int i = 0; i < FAILURES; i++) {
            IOException refused = assertThrows(IOException.class, () -> new Epoll(REFUSED));
            assertEquals("epoll_ctl(eventfd) failed: Invalid argument", refused.getMessage());
        }
        assertTrue(descriptors() - descriptors < FAILURES / 2, () -> "descriptors: " + descriptors());
    }

    private static int descriptors() {
        return Objects.requireNonNull(new File("/proc/self/fd").list()).length;
    }

    @Test
    void aWakeupEndsTheNextWaitAndNoFurtherOne() throws Exception {
        try (Epoll epoll = new Epoll()) {
            epoll.wakeup();
            long start = System.nanoTime();
            assertEquals(0, epoll.await(2 * A_WHILE));
            assertTrue(System.nanoTime() - start < A_WHILE, "the wake-up was lost");
            start = System.nanoTime();
            assertEquals(0, epoll.await(50 * MILLISECOND));
            assertTrue(System.nanoTime() - start >= 50 * MILLISECOND, "woken twice");
        }
    }

    /** The wait is running or the next one, as it happens; the pause has both happen. */
    @ParameterizedTest
    @ValueSource(longs = {0, 20_000, 200_000})
    void aWakeupOfAnotherThreadEndsTheWait(long pause) throws Exception {
        try (Epoll epoll = new Epoll()) {
            for (int round = 0; round < 500; round++) {
                CountDownLatch called = new CountDownLatch(1);
                Thread.ofVirtual().start(() -> {
                    LockSupport.parkNanos(pause);
                    epoll.wakeup();
                    called.countDown();
                });
                long start = System.nanoTime();
                assertEquals(0, epoll.await(2 * A_WHILE));
                assertTrue(System.nanoTime() - start < A_WHILE, "lost in round " + round);
                called.await();
            }
        }
    }

    @Test
    void eventsComeWithTheirKeys() throws Exception {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            epoll.add(pair.client.fd(), Epoll.IN, Long.MAX_VALUE);
            epoll.add(pair.server.fd(), Epoll.OUT, 0);
            assertEquals(1, epoll.poll());
            assertEquals(0, epoll.key(0));
            assertEquals(Epoll.OUT, epoll.events(0));
            pair.send(pair.server, "x");
            assertEquals(2, awaitAll(epoll, 2));
            int client = epoll.key(0) == 0 ? 1 : 0;
            assertEquals(Long.MAX_VALUE, epoll.key(client));
            assertEquals(Epoll.IN, epoll.events(client));
            assertEquals(0, epoll.key(1 - client));
        }
    }

    /** Loopback delivers at once, but nobody promises it. */
    private static int awaitAll(Epoll epoll, int count) throws IOException {
        long start = System.nanoTime();
        int n;
        do {
            n = epoll.await(SocketPair.PATIENCE);
        } while (n < count && System.nanoTime() - start < SocketPair.PATIENCE);
        return n;
    }

    @Test
    void aNegativeKeyEndsTheWaitAndNobodyIsTold() throws Exception {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            epoll.add(pair.client.fd(), Epoll.OUT, -1);
            long start = System.nanoTime();
            assertEquals(0, epoll.await(2 * A_WHILE));
            assertTrue(System.nanoTime() - start < A_WHILE, "it waited");
            epoll.add(pair.server.fd(), Epoll.OUT, 5);
            assertEquals(1, epoll.poll());
            assertEquals(5, epoll.key(0));
        }
    }

    /** Epoll tells of what is ready in the order in which it became so. */
    @ParameterizedTest
    @ValueSource(ints = {0b0001, 0b1000, 0b0110, 0b0101, 0b1010, 0b1111})
    void negativeKeysAmongOthersAreLeftOut(int untold) throws Exception {
        List<SocketPair> pairs = new ArrayList<>();
        Epoll epoll = new Epoll();
        try {
            Map<Long, Integer> expected = new HashMap<>();
            for (int i = 0; i < 4; i++) {
                SocketPair pair = SocketPair.open();
                pairs.add(pair);
                boolean isTold = (untold >> i & 1) == 0;
                int interest = i == 2 ? Epoll.OUT : Epoll.IN | Epoll.OUT;
                epoll.add(pair.client.fd(), interest, isTold ? i : -1 - i);
                pair.send(pair.server, "x");
                if (isTold) {
                    expected.put((long) i, interest);
                }
            }
            Map<Long, Integer> told = new HashMap<>();
            long start = System.nanoTime();
            do {
                told.clear();
                int n = epoll.poll();
                for (int i = 0; i < n; i++) {
                    told.put(epoll.key(i), epoll.events(i));
                }
                assertEquals(n, told.size(), "one of them came twice");
            } while (!told.equals(expected) && System.nanoTime() - start < SocketPair.PATIENCE);
            assertEquals(expected, told);
        } finally {
            epoll.close();
            for (SocketPair pair : pairs) {
                pair.close();
            }
        }
    }

    @Test
    void anEdgeComesOnceAndALevelAgain() throws Exception {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            pair.send(pair.server, "x");
            SocketPair.await(pair.client, Epoll.IN);
            epoll.add(pair.client.fd(), Epoll.IN | Epoll.EDGE, 1);
            assertEquals(1, epoll.await(SocketPair.PATIENCE));
            assertEquals(0, epoll.poll());
            epoll.remove(pair.client.fd());
            epoll.add(pair.client.fd(), Epoll.IN, 2);
            assertEquals(1, epoll.poll());
            assertEquals(1, epoll.poll());
            assertEquals(2, epoll.key(0));
            epoll.remove(pair.client.fd());
            epoll.add(pair.client.fd(), Epoll.OUT | Epoll.EDGE, 3);
            assertEquals(1, epoll.poll());
            assertEquals(Epoll.OUT, epoll.events(0));
            assertEquals(3, epoll.key(0));
        }
    }

    @Test
    void whatIsRemovedOrClosedIsToldOfNoMore() throws Exception {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            epoll.add(pair.client.fd(), Epoll.OUT, 1);
            epoll.add(pair.server.fd(), Epoll.OUT, 2);
            assertEquals(2, epoll.poll());
            epoll.remove(pair.client.fd());
            // What was fetched stays.
            assertEquals(Set.of(1L, 2L), Set.of(epoll.key(0), epoll.key(1)));
            assertEquals(1, epoll.poll());
            assertEquals(2, epoll.key(0));
            pair.server.close();
            assertEquals(0, epoll.poll());
        }
    }

    @Test
    void removingWhatIsNotThereIsAnError() throws Exception {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            assertEquals("epoll_ctl(remove) failed: No such file or directory",
                    assertThrows(IOException.class, () -> epoll.remove(pair.client.fd())).getMessage());
            assertEquals("epoll_ctl(remove) failed: Bad file descriptor",
                    assertThrows(IOException.class, () -> epoll.remove(-1)).getMessage());
            epoll.add(pair.client.fd(), Epoll.IN, 1);
            assertEquals("epoll_ctl(add) failed: File exists",
                    assertThrows(IOException.class, () -> epoll.add(pair.client.fd(), Epoll.IN, 2)).getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Epoll.OUT, Epoll.OUT | Epoll.EDGE})
    void moreEventsThanFitComeWithTheNextCall(int interest) throws Exception {
        int sockets = 2 * Epoll.MAX_EVENTS + 10;
        List<KernelSocket> all = new ArrayList<>();
        try (Epoll epoll = new Epoll()) {
            for (int i = 0; i < sockets; i++) {
                // One that was just made can be written to.
                KernelSocket socket = KernelSocket.datagram(false);
                all.add(socket);
                epoll.add(socket.fd(), interest, i);
            }
            Set<Long> keys = new HashSet<>();
            for (int call = 0; call < 3; call++) {
                int n = epoll.poll();
                assertEquals(call < 2 || (interest & Epoll.EDGE) == 0
                        ? Epoll.MAX_EVENTS : sockets - 2 * Epoll.MAX_EVENTS, n);
                for (int i = 0; i < n; i++) {
                    keys.add(epoll.key(i));
                }
            }
            assertEquals(sockets, keys.size());
            assertEquals((interest & Epoll.EDGE) == 0 ? Epoll.MAX_EVENTS : 0, epoll.await(0));
        } finally {
            all.forEach(KernelSocket::close);
        }
    }

    @Test
    void theEndOfAStreamIsTold() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.server.shutdown(false, true);
            assertNotEquals(0, SocketPair.await(pair.client, Epoll.RDHUP) & Epoll.RDHUP);
            pair.client.shutdown(false, true);
            assertNotEquals(0, SocketPair.await(pair.client, 0) & Epoll.HUP);
        }
    }

    @Test
    void aReusedDescriptorHasItsNewKey() throws Exception {
        InetSocketAddress local = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0);
        try (Epoll epoll = new Epoll()) {
            KernelSocket first = SocketPair.listener(local);
            epoll.add(first.fd(), Epoll.IN | Epoll.EDGE, 1);
            first.close();
            try (KernelSocket second = KernelSocket.datagram(false)) {
                epoll.add(second.fd(), Epoll.OUT | Epoll.EDGE, 2);
                assertEquals(1, epoll.poll());
                assertEquals(2, epoll.key(0));
            }
        }
    }

    @Test
    void timeoutsAreOfNanoseconds() throws Exception {
        try (Epoll epoll = new Epoll()) {
            // A busy machine is late now and then; a millisecond's clock always is.
            assertTrue(shortestWait(epoll) < MILLISECOND, "it never took less than a millisecond");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOSYS, Errno.EPERM})
    void whereTheKernelOrASandboxHasNoNanosecondsTimeoutsAreRoundedUp(int errno) throws Exception {
        long shortest = Seccomp.refusing(errno, () -> {
            try (Epoll epoll = new Epoll(); SocketPair pair = SocketPair.open()) {
                long waited = shortestWait(epoll);
                epoll.add(pair.client.fd(), Epoll.OUT, 7);
                assertEquals(1, epoll.await(100));
                assertEquals(7, epoll.key(0));
                return waited;
            }
        }, Seccomp.EPOLL_PWAIT2);
        assertTrue(shortest >= MILLISECOND, () -> "waited " + shortest + " ns");
    }

    private static long shortestWait(Epoll epoll) throws IOException {
        long timeout = MILLISECOND / 10;
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < 100; i++) {
            long start = System.nanoTime();
            epoll.await(timeout);
            long waited = System.nanoTime() - start;
            assertTrue(waited >= timeout, () -> "waited " + waited + " ns");
            shortest = Math.min(shortest, waited);
        }
        return shortest;
    }

    private static final long LONG = 30 * MILLISECOND;

    /** @return how long it waited, in nanoseconds */
    private static long wait(Epoll epoll, long timeout) throws IOException {
        long start = System.nanoTime();
        assertEquals(0, epoll.await(timeout));
        long waited = System.nanoTime() - start;
        assertTrue(waited < A_WHILE, () -> "waited " + waited + " ns");
        return waited;
    }

    private static void waitInFull(Epoll epoll, long timeout) throws IOException {
        long waited = wait(epoll, timeout);
        assertTrue(waited >= timeout, () -> "waited " + waited + " ns");
    }

    /** As a loop waits for each message while the same timer is the next one. */
    @Test
    void aLongLimitHoldsOnForTheWaitsAfterTheOneThatWasEnded() throws Exception {
        try (Epoll epoll = new Epoll()) {
            long start = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                epoll.wakeup();
                wait(epoll, LONG);
            }
            wait(epoll, LONG);
            assertTrue(System.nanoTime() - start >= LONG, "it ended before the first one's limit");
            waitInFull(epoll, LONG);
            waitInFull(epoll, 2 * LONG);
        }
    }

    @Test
    void aLimitThatComesBeforeTheOneThatIsSetHolds() throws Exception {
        for (long nearer : new long[] {LONG, MILLISECOND}) {
            try (Epoll epoll = new Epoll()) {
                epoll.wakeup();
                wait(epoll, 2 * A_WHILE);
                waitInFull(epoll, nearer);
                waitInFull(epoll, nearer);
            }
        }
    }

    /** Whoever asks without waiting takes the event with it, and one that nobody has taken is of no wait to come. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLimitThatHasPassedWhileNobodyWaitedIsSetAgain(boolean asks) throws Exception {
        try (Epoll epoll = new Epoll()) {
            long start = System.nanoTime();
            epoll.wakeup();
            wait(epoll, LONG);
            while (System.nanoTime() - start < 2 * LONG) {
                Thread.onSpinWait();
            }
            if (asks) {
                assertEquals(0, epoll.poll());
            }
            waitInFull(epoll, LONG);
        }
    }

    @Test
    void aWaitWithoutALimitEndsNoEarlierThanTheOneThatWasSet() throws Exception {
        try (Epoll epoll = new Epoll()) {
            epoll.wakeup();
            long start = System.nanoTime();
            wait(epoll, LONG);
            // If this thread stands still meanwhile, the first wait takes the timer's event too, and none is left to come.
            CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(epoll::wakeup);
            wait(epoll, -1);
            assertTrue(System.nanoTime() - start >= LONG);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOSYS, Errno.EPERM, Errno.EMFILE})
    void withoutATimerEachWaitHasItsOwnLimit(int errno) throws Exception {
        for (int call : new int[] {Seccomp.TIMERFD_CREATE, Seccomp.TIMERFD_SETTIME}) {
            Seccomp.refusing(errno, () -> {
                try (Epoll epoll = new Epoll()) {
                    epoll.wakeup();
                    wait(epoll, LONG);
                    waitInFull(epoll, LONG);
                    waitInFull(epoll, 2 * LONG);
                }
                return null;
            }, call);
        }
    }

    /** Any other call than {@code epoll_wait} would fail. */
    @Test
    void whileTheTimerIsSetAWaitIsOneCallWithoutALimit() throws Exception {
        try (Epoll epoll = new Epoll()) {
            epoll.wakeup();
            wait(epoll, A_WHILE);
            Seccomp.refusing(Errno.EINVAL, () -> {
                for (int i = 0; i < 3; i++) {
                    epoll.wakeup();
                    wait(epoll, 2 * A_WHILE);
                }
                assertThrows(IOException.class, () -> epoll.await(LONG), "the test sees nothing");
                return null;
            }, Seccomp.TIMERFD_SETTIME, Seccomp.EPOLL_PWAIT2);
        }
    }

    @Test
    void aTimerThatCannotBeWatchedIsGivenBack() throws Exception {
        List<Epoll> all = new ArrayList<>();
        try {
            for (int i = 0; i < FILES; i++) {
                all.add(new Epoll());
            }
            int left = Seccomp.refusing(Errno.ENOMEM, () -> {
                int descriptors = descriptors();
                for (Epoll epoll : all) {
                    waitInFull(epoll, LONG);
                }
                return descriptors() - descriptors;
            }, Seccomp.EPOLL_CTL);
            assertTrue(left < FILES / 2, () -> "descriptors: " + left);
        } finally {
            all.forEach(Epoll::close);
        }
    }

    @Test
    void theTimerGoesWithTheRest() throws Exception {
        int descriptors = descriptors();
        for (int i = 0; i < FAILURES; i++) {
            try (Epoll epoll = new Epoll()) {
                epoll.wakeup();
                wait(epoll, LONG);
            }
        }
        assertTrue(descriptors() - descriptors < FAILURES / 2, () -> "descriptors: " + descriptors());
    }

    @Test
    void millisecondsAreRoundedUpAndCapped() {
        assertEquals(-1, Epoll.millis(-1));
        assertEquals(-1, Epoll.millis(Long.MIN_VALUE));
        assertEquals(1, Epoll.millis(1));
        assertEquals(1, Epoll.millis(MILLISECOND));
        assertEquals(2, Epoll.millis(MILLISECOND + 1));
        assertEquals(Integer.MAX_VALUE, Epoll.millis(Long.MAX_VALUE));
    }

    @Test
    void aVeryLongTimeoutIsTaken() throws Exception {
        try (Epoll epoll = new Epoll()) {
            epoll.wakeup();
            assertEquals(0, epoll.await(Long.MAX_VALUE));
        }
    }

    @Test
    void aClosedOneIsNotAskedAgain() throws Exception {
        Epoll epoll = new Epoll();
        epoll.close();
        epoll.close();
        assertThrows(IllegalStateException.class, epoll::poll);
        assertThrows(IllegalStateException.class, () -> epoll.await(1));
        assertThrows(IllegalStateException.class, () -> epoll.add(0, Epoll.IN, 1));
    }
}
