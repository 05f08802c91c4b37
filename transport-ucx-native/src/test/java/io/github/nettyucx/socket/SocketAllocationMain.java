// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Prints how many bytes a round of calls allocates. In a process of its own: whether the JIT compiler leaves objects out, such
 * as the JDK's view of errno in each call into C, depends on what else it has compiled.
 */
final class SocketAllocationMain {

    private static final int ROUNDS = 50_000;
    private static final int BATCHES = 40;
    /** So few that the compiler which leaves objects out does not come to them, in all batches together. */
    private static final int FEW_ROUNDS = 5;
    private static final int SIZE = 64;

    /** What is done in a round. */
    enum Work {
        STREAM {
            @Override
            double bytes() throws IOException {
                return streams();
            }
        },
        WAKEUP {
            @Override
            double bytes() throws IOException {
                return wakeups();
            }
        },
        SLEEP {
            @Override
            double bytes() throws IOException {
                return sleeps();
            }
        },
        DATAGRAM_IPV4 {
            @Override
            double bytes() throws IOException {
                return datagrams("127.0.0.1");
            }
        },
        DATAGRAM_IPV6 {
            @Override
            double bytes() throws IOException {
                return datagrams("::1");
            }
        };

        abstract double bytes() throws IOException;
    }

    @FunctionalInterface
    private interface Round {
        void run() throws IOException;
    }

    private SocketAllocationMain() {
    }

    /** @param arguments a {@link Work} */
    public static void main(String[] arguments) throws IOException {
        System.out.println(Work.valueOf(arguments[0]).bytes());
    }

    private static double streams() throws IOException {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll(); IoVector vector = new IoVector(2)) {
            long memory = pair.memory(2 * SIZE).address();
            epoll.add(pair.server.fd(), Epoll.IN | Epoll.EDGE, 3);
            return measure(() -> {
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

    private static double wakeups() throws IOException {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            epoll.add(pair.client.fd(), Epoll.OUT, -1);
            epoll.add(pair.server.fd(), Epoll.OUT, 9);
            return measure(() -> {
                epoll.wakeup();
                expect(1, epoll.await(-1));
                expect(9, epoll.key(0));
                expect(Epoll.OUT, epoll.events(0));
                expect(1, epoll.await(1_000_000_000));
                expect(1, epoll.poll());
            });
        }
    }

    /** Of calls that nobody has compiled: a loop sleeps too seldom for that. */
    private static double sleeps() throws IOException {
        try (Epoll epoll = new Epoll()) {
            return measure(FEW_ROUNDS, () -> {
                epoll.wakeup();
                expect(0, epoll.await(-1));
                epoll.wakeup();
                expect(0, epoll.await(1_000_000));
            });
        }
    }

    private static double datagrams(String host) throws IOException {
        InetAddress address = InetAddress.ofLiteral(host);
        try (SocketPair pair = SocketPair.open();
                KernelSocket one = KernelSocket.datagram(KernelSocket.needsIpv6(address));
                KernelSocket other = KernelSocket.datagram(KernelSocket.needsIpv6(address))) {
            long memory = pair.memory(2 * SIZE).address();
            one.bind(new InetSocketAddress(address, 0));
            other.bind(new InetSocketAddress(address, 0));
            InetSocketAddress to = other.localAddress();
            return measure(() -> {
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

    private static double measure(Round round) throws IOException {
        return measure(ROUNDS, round);
    }

    /** @return bytes for each round, when the compiler has done what it can */
    private static double measure(int rounds, Round round) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double bytes = Double.MAX_VALUE;
        // The compiler that leaves objects out works when it finds the time, on a busy machine later than on others.
        for (int batch = 0; batch < BATCHES && bytes >= 1; batch++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < rounds; i++) {
                round.run();
            }
            bytes = (double) (threads.getCurrentThreadAllocatedBytes() - before) / rounds;
        }
        return bytes;
    }
}
