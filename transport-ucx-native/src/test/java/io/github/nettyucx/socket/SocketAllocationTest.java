// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens for each message must not leave anything for the garbage collector. */
@Timeout(120)
class SocketAllocationTest {

    private static final int ROUNDS = 50_000;
    private static final int BATCHES = 40;
    /** A round has some five calls; an object would be 16 bytes at least. The rest is the measurement's own. */
    private static final double MAX_BYTES_PER_ROUND = 1;
    private static final int SIZE = 64;

    /**
     * What the JDK makes of the segment for errno in a call into C, where its compiler does not see that nobody keeps it:
     * {@code SharedUtils.checkCaptureSegment} of JDK 25. In a process that has run much else, that happens.
     */
    private static final int VIEW_OF_ERRNO = 40;
    /** Into C, of a round that has the most of them. */
    private static final int CALLS = 10;

    private interface Round {
        void run() throws IOException;
    }

    @Test
    void sendingReceivingAndPollingAllocateNothing() throws IOException {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll(); IoVector vector = new IoVector(2)) {
            long memory = pair.memory(2 * SIZE).address();
            epoll.add(pair.server.fd(), Epoll.IN | Epoll.EDGE, 3);
            measure(() -> {
                expect(SIZE, pair.client.send(memory, SIZE));
                vector.set(0, memory, SIZE / 4);
                vector.set(1, memory, SIZE / 4);
                expect(SIZE / 2, pair.client.sendVector(vector, 2));
                while (epoll.poll() == 0) {
                    expect(0, epoll.await(1_000_000));
                    if (pair.server.peek(memory, SIZE) > 0) {
                        break;
                    }
                }
                int received = 0;
                while (received < SIZE * 3 / 2) {
                    int n = pair.server.receive(memory + SIZE, SIZE);
                    received += Math.max(0, n);
                }
                expect(-Errno.EAGAIN, pair.server.receive(memory, SIZE));
                expect(-Errno.EAGAIN, pair.server.peek(memory, SIZE));
                expect(0, pair.client.pendingError());
                epoll.poll();
            });
        }
    }

    @Test
    void eventsAndWakeupsAllocateNothing() throws IOException {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            epoll.add(pair.client.fd(), Epoll.OUT, -1);
            epoll.add(pair.server.fd(), Epoll.OUT, 9);
            measure(() -> {
                epoll.wakeup();
                expect(1, epoll.await(-1));
                expect(9, epoll.key(0));
                expect(Epoll.OUT, epoll.events(0));
                expect(1, epoll.await(1_000_000_000));
                expect(1, epoll.poll());
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void datagramsAllocateNothing(String host) throws IOException {
        InetAddress address = InetAddress.ofLiteral(host);
        if (KernelSocket.needsIpv6(address)) {
            SocketPair.ipv6Loopback();
        }
        try (SocketPair pair = SocketPair.open();
                KernelSocket one = KernelSocket.datagram(KernelSocket.needsIpv6(address));
                KernelSocket other = KernelSocket.datagram(KernelSocket.needsIpv6(address))) {
            long memory = pair.memory(2 * SIZE).address();
            one.bind(new InetSocketAddress(address, 0));
            other.bind(new InetSocketAddress(address, 0));
            InetSocketAddress to = other.localAddress();
            measure(() -> {
                expect(SIZE, one.sendTo(memory, SIZE, to));
                receive(other, memory + SIZE);
                expect(SIZE, other.sendTo(memory, SIZE, other.lastSender()));
                receive(one, memory + SIZE);
            });
        }
    }

    private static void receive(KernelSocket socket, long memory) {
        int n;
        do {
            n = socket.receiveFrom(memory, SIZE);
        } while (n == -Errno.EAGAIN);
        expect(SIZE, n);
    }

    private static void expect(long expected, long actual) {
        if (expected != actual) {
            throw new AssertionError("expected: " + expected + ", but was: " + actual);
        }
    }

    private static void measure(Round round) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        assertTrue(threads.isThreadAllocatedMemoryEnabled(), "the measurement needs it");
        try {
            double bytes = Double.MAX_VALUE;
            // The compiler that leaves objects out works when it finds the time, on a busy machine later than on others.
            for (int batch = 0; batch < BATCHES && bytes >= MAX_BYTES_PER_ROUND; batch++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < ROUNDS; i++) {
                    round.run();
                }
                bytes = (double) (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
            }
            double last = bytes;
            double own = last;
            for (int i = 0; i < CALLS && own >= VIEW_OF_ERRNO; i++) {
                own -= VIEW_OF_ERRNO;
            }
            assertTrue(own < MAX_BYTES_PER_ROUND, () -> last + " bytes allocated per round");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
