// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A TCP connection of this process with itself, and memory to send from and to receive to. */
final class SocketPair implements AutoCloseable {
    static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    final KernelSocket client;
    final KernelSocket server;
    private final Arena arena = Arena.ofShared();

    SocketPair(KernelSocket client, KernelSocket server) {
        this.client = client;
        this.server = server;
    }

    static SocketPair open() throws IOException {
        return open(InetAddress.getByName("127.0.0.1"));
    }

    static SocketPair open(InetAddress host) throws IOException {
        try (KernelSocket listener = listener(new InetSocketAddress(host, 0))) {
            KernelSocket client = KernelSocket.stream(KernelSocket.needsIpv6(host));
            connect(client, listener.localAddress());
            return new SocketPair(client, accept(listener));
        }
    }

    static KernelSocket listener(InetSocketAddress local) throws IOException {
        KernelSocket listener = KernelSocket.stream(KernelSocket.needsIpv6(local.getAddress()));
        listener.bind(local);
        listener.listen(16);
        return listener;
    }

    static void connect(KernelSocket client, InetSocketAddress remote) throws IOException {
        if (!client.connect(remote)) {
            await(client, Epoll.OUT);
            client.finishConnect();
        }
    }

    static KernelSocket accept(KernelSocket listener) throws IOException {
        await(listener, Epoll.IN);
        KernelSocket accepted = listener.accept();
        assertNotNull(accepted);
        return accepted;
    }

    /** Waits for one of these events; what has come. */
    static int await(KernelSocket socket, int interest) throws IOException {
        try (Epoll epoll = new Epoll()) {
            epoll.add(socket.fd(), interest, 0);
            assertEquals(1, epoll.await(PATIENCE), "no event came");
            return epoll.events(0);
        }
    }

    MemorySegment memory(int size) {
        return arena.allocate(size, 8);
    }

    MemorySegment memory(String text) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Sends all of a short text. */
    void send(KernelSocket socket, String text) {
        MemorySegment bytes = memory(text);
        assertEquals(text.length(), socket.send(bytes.address(), (int) bytes.byteSize()));
    }

    /** Receives a text of this length. */
    String receive(KernelSocket socket, int length) throws IOException {
        MemorySegment bytes = memory(length);
        int received = 0;
        while (received < length) {
            await(socket, Epoll.IN);
            int n = socket.receive(bytes.address() + received, length - received);
            assertTrue(n > 0, () -> "receive answers " + n);
            received += n;
        }
        return text(bytes, length);
    }

    static String text(MemorySegment bytes, int length) {
        return new String(bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.US_ASCII);
    }

    /** Skips the test where the machine has no IPv6 on its loopback interface. */
    static InetAddress ipv6Loopback() throws IOException {
        InetAddress loopback = InetAddress.getByName("::1");
        Assumptions.assumeTrue(KernelSocket.isIpv6Available(), "no IPv6");
        try (KernelSocket socket = KernelSocket.stream(true)) {
            socket.bind(new InetSocketAddress(loopback, 0));
        } catch (IOException e) {
            Assumptions.abort("no IPv6 on the loopback interface");
        }
        return loopback;
    }

    @Override
    public void close() {
        client.close();
        server.close();
        arena.close();
    }
}
