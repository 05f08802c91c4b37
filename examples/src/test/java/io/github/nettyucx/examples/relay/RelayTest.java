// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two relays in a row, so that plain sockets are at both ends and UCX is in the middle: what one end does the other has
 * to see, and so both ways between TCP and UCX are tried at once.
 */
@Timeout(120)
class RelayTest {
    private static final long PATIENCE_SECONDS = 60;
    /** More than all the buffers on the way: two of the kernel's and two of Netty's at each relay, UCX's window. */
    private static final int FLOOD = 256 << 20;

    private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
    private ServerSocket target;
    private RelayServer behind;
    private RelayServer before;

    @BeforeEach
    void start() throws IOException {
        target = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        behind = RelayServer.start(side(TransportKind.UCX, 0), side(TransportKind.NIO, target.getLocalPort()),
                log::add);
        before = RelayServer.start(side(TransportKind.NIO, 0), side(TransportKind.UCX, behind.address().port()),
                log::add);
    }

    @AfterEach
    void stop() throws IOException {
        before.close();
        behind.close();
        target.close();
    }

    private static Side side(TransportKind transport, int port) {
        return new Side(transport, new HostAndPort("127.0.0.1", port));
    }

    private Socket connect() throws IOException {
        var socket = new Socket("127.0.0.1", before.address().port());
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        return socket;
    }

    private Socket accept() throws IOException {
        var socket = target.accept();
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        return socket;
    }

    @Test
    void passesBytesAndTheEndOfThemInEachDirection() throws Exception {
        var there = random(20_000_001, 1);
        var back = random(15_000_003, 2);
        try (var client = connect(); var server = accept()) {
            var sent = CompletableFuture.runAsync(() -> sendAndEnd(client, there));
            assertArrayEquals(there, server.getInputStream().readAllBytes());
            sent.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            // The client's direction has ended; the other one is as open as before.
            var replied = CompletableFuture.runAsync(() -> sendAndEnd(server, back));
            assertArrayEquals(back, client.getInputStream().readAllBytes());
            replied.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        for (var i = 0; i < 2; i++) {
            var line = log.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertTrue(line.endsWith(": 20000001 bytes to the server, 15000003 to the client, closed by both sides"),
                    line);
        }
    }

    @Test
    void passesTheEndFromTheServerFirst() throws Exception {
        try (var client = connect(); var server = accept()) {
            sendAndEnd(server, new byte[] {1, 2, 3});
            assertArrayEquals(new byte[] {1, 2, 3}, client.getInputStream().readAllBytes());
            sendAndEnd(client, new byte[] {4});
            assertArrayEquals(new byte[] {4}, server.getInputStream().readAllBytes());
        }
    }

    @Test
    void passesAResetOfTheClient() throws Exception {
        try (var server = resetBy(true)) {
            assertReset(server.getInputStream());
        }
    }

    @Test
    void passesAResetOfTheServer() throws Exception {
        try (var client = resetBy(false)) {
            assertReset(client.getInputStream());
        }
    }

    @Test
    void resetsAClientWhoseServerIsNotThere() throws Exception {
        target.close();
        try (var client = connect()) {
            assertReset(client.getInputStream());
        }
        var lines = new ArrayList<String>();
        while (lines.stream().noneMatch(line -> line.contains("cannot connect to tcp:127.0.0.1:"))) {
            lines.add(log.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
    }

    /** A server that reads nothing stops the client; later it gets everything. */
    @Test
    void slowsTheSenderDownToTheReader() throws Exception {
        try (var client = connect(); var server = accept()) {
            var out = client.getOutputStream();
            var chunk = new byte[1 << 20];
            var written = new LinkedBlockingQueue<Integer>();
            var sending = CompletableFuture.runAsync(() -> {
                try {
                    for (var sent = 0; sent < FLOOD; sent += chunk.length) {
                        out.write(chunk);
                        written.add(chunk.length);
                    }
                    client.shutdownOutput();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            // Until nothing more is taken for a second.
            var taken = 0L;
            while (written.poll(1, TimeUnit.SECONDS) instanceof Integer length) {
                taken += length;
            }
            assertTrue(taken < FLOOD / 2, taken + " bytes were taken for a server that reads nothing");
            assertEquals(FLOOD, server.getInputStream().transferTo(OutputStream.nullOutputStream()));
            sending.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Connects, sees to it that both ends are there, lets one of them reset the connection, and returns the other. */
    private Socket resetBy(boolean byClient) throws IOException {
        var client = connect();
        var server = accept();
        client.getOutputStream().write(1);
        assertEquals(1, server.getInputStream().read());
        server.getOutputStream().write(2);
        assertEquals(2, client.getInputStream().read());
        var resetting = byClient ? client : server;
        resetting.setSoLinger(true, 0);
        resetting.close();
        return byClient ? server : client;
    }

    private static void assertReset(InputStream in) {
        var failure = assertThrows(SocketException.class, in::read);
        assertTrue(failure.getMessage().contains("reset"), failure.getMessage());
    }

    private static void sendAndEnd(Socket socket, byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
            socket.shutdownOutput();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] random(int size, long seed) {
        var bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
