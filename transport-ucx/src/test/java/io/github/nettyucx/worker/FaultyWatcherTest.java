// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Whoever throws when it is told of its socket is told that it has, and others are served. */
@Timeout(60)
class FaultyWatcherTest {

    private final List<Throwable> faults = new ArrayList<>();
    private int served;

    private final class Faulty implements SocketWatcher {

        private final Error thrown;

        Faulty(Error thrown) {
            this.thrown = thrown;
        }

        @Override
        public void socketReady(int events) {
            throw thrown;
        }

        @Override
        public void faulted(Throwable cause) {
            faults.add(cause);
            throw thrown;
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OutOfMemoryError.class, LinkageError.class, AssertionError.class})
    void itIsToldAndOthersAreServed(Class<? extends Error> error) throws Exception {
        Faulty faulty = new Faulty(error.getConstructor().newInstance());
        ProgressEngine engine = new ProgressEngine("faulty", new Counters<>(WorkerCounter.class));
        try (KernelSocket first = listen(engine, faulty); KernelSocket second = listen(engine, _ -> served++);
             KernelSocket third = listen(engine, faulty); KernelSocket one = connect(first);
             KernelSocket two = connect(second); KernelSocket three = connect(third)) {
            while (faults.size() < 2 || served == 0) {
                engine.await(-1);
                engine.poll();
            }
            assertEquals(2, faults.size());
            faults.forEach(fault -> assertSame(faulty.thrown, fault));
            assertEquals(1, served);
            List.of(first, second, third).forEach(engine::unwatch);
        } finally {
            engine.close();
        }
    }

    private static KernelSocket listen(ProgressEngine engine, SocketWatcher watcher) throws Exception {
        KernelSocket socket = KernelSocket.stream(false);
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
        socket.listen(1);
        engine.watch(socket, Epoll.IN | Epoll.EDGE, watcher);
        return socket;
    }

    private static KernelSocket connect(KernelSocket server) throws Exception {
        KernelSocket socket = KernelSocket.stream(false);
        socket.connect(server.localAddress());
        return socket;
    }
}
