// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SocketTableTest {

    private final SocketTable sockets = new SocketTable(new SocketTable.Probing(1, 1, 1));

    @AfterEach
    void close() {
        sockets.close();
    }

    @Test
    void showsBothEndsOfAConnectionAndNothingThatIsNotConnected() throws IOException {
        for (String host : new String[] {"127.0.0.1", "::1"}) {
            try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getByName(host));
                 Socket client = new Socket(listening.getInetAddress(), listening.getLocalPort());
                 Socket served = listening.accept();
                 DatagramChannel unconnected = DatagramChannel.open().bind(null)) {
                Map<InetSocketAddress, InetSocketAddress> seen = new HashMap<>();
                sockets.forEach((descriptor, local, remote) -> seen.put(local, remote));
                assertEquals(served.getLocalSocketAddress(), seen.get(client.getLocalSocketAddress()));
                assertEquals(served.getRemoteSocketAddress(), seen.get(served.getLocalSocketAddress()));
                assertFalse(seen.containsKey(unconnected.getLocalAddress()));
            }
        }
    }

    @Test
    void countsTheDescriptors() throws IOException {
        int before = sockets.forEach((descriptor, local, remote) -> { });
        Pipe[] pipes = new Pipe[300];
        try {
            for (int i = 0; i < pipes.length; i++) {
                pipes[i] = Pipe.open();
            }
            int counted = sockets.forEach((descriptor, local, remote) -> { });
            assertTrue(Math.abs(counted - before - 2 * pipes.length) < 20,
                    before + " descriptors, then " + counted + " with " + pipes.length + " pipes");
            try (var directory = Files.list(Path.of("/proc/self/fd"))) {
                assertTrue(Math.abs(directory.count() - counted) < 20, counted + " descriptors counted");
            }
        } finally {
            for (Pipe pipe : pipes) {
                if (pipe != null) {
                    pipe.sink().close();
                    pipe.source().close();
                }
            }
        }
    }

    @Test
    void resetsTheOneThatTheVisitorNames() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket listening = new ServerSocket(0, 2, loopback);
             Socket unlucky = new Socket(loopback, listening.getLocalPort());
             Socket lucky = new Socket(loopback, listening.getLocalPort());
             Socket first = listening.accept();
             Socket second = listening.accept()) {
            sockets.forEach((descriptor, local, remote) -> {
                if (remote.equals(unlucky.getLocalSocketAddress())) {
                    assertFalse(sockets.reset(descriptor, remote, local), "another socket has the number");
                    assertTrue(sockets.reset(descriptor, local, remote));
                }
            });
            assertThrows(IOException.class, () -> unlucky.getInputStream().read());
            second.getOutputStream().write('x');
            assertEquals('x', lucky.getInputStream().read());
            assertEquals(unlucky.getLocalPort(), first.getPort());
        }
    }

    @Test
    void keepsNoSocketOpen() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket listening = new ServerSocket(0, 1, loopback);
             Socket client = new Socket(loopback, listening.getLocalPort());
             Socket served = listening.accept()) {
            sockets.forEach((descriptor, local, remote) -> {
                if (remote.equals(client.getLocalSocketAddress())) {
                    sockets.probe(descriptor, local, remote);
                }
            });
            served.close();
            client.setSoTimeout(10_000);
            assertEquals(-1, client.getInputStream().read());
        }
    }

    @Test
    void givesItsDescriptorsBackAndCanBeUsedAgain() throws IOException {
        for (int i = 0; i < 100; i++) {
            sockets.prepare();
            assertTrue(sockets.forEach((descriptor, local, remote) -> { }) > 0);
            sockets.close();
        }
        int before = DescriptorReserve.listed();
        for (int i = 0; i < 100; i++) {
            sockets.prepare();
            sockets.close();
        }
        assertEquals(before, DescriptorReserve.listed(), 20, "but for what the JVM opens and closes");
    }
}
