// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.socket.Announcement;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A client whose loop is so busy that its server has closed the connection when it comes to the server's last word of the
 * handshake. It is not told that it is connected.
 */
class ImpatientServerTest {

    private static final int SECONDS = 15;
    /** Of a socket in /proc/net/tcp: the peer has ended its side. */
    private static final String CLOSE_WAIT = "08";

    private final Inbox inbox = new Inbox();
    private Peers peers;
    private InetSocketAddress server;
    private ServerSocket between;

    @BeforeEach
    void listen() throws Exception {
        peers = new Peers();
        UcxServerSocketChannel listening = peers.listen(
                peers.server(Inbox::new).childOption(UcxChannelOption.TRANSLATED_ADDRESSES, true));
        server = listening.localAddress();
        between = new ServerSocket();
        between.bind(Peers.loopback(0));
        between.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
        // Its link is there for others: the server's answer is its last word to them.
        Peers.await(client(UcxConnectMode.UCX).handler(new Inbox()).connect(server));
    }

    @AfterEach
    void endLoops() throws IOException {
        peers.close();
        between.close();
    }

    private Bootstrap client(UcxConnectMode mode) {
        return peers.client(inbox).option(UcxChannelOption.CONNECT_MODE, mode)
                .option(UcxChannelOption.TRANSLATED_ADDRESSES, true);
    }

    @OnEachLane
    void aConnectionThatTheServerHasGivenUpIsNoSuccess() throws Exception {
        Throwable cause = Peers.awaitFailure(connectTooLate(client(UcxConnectMode.UCX)));
        assertEquals(HandshakeFailure.CLOSED_BY_PEER, assertInstanceOf(HandshakeException.class, cause).reason());
        assertEquals("Connection closed by the peer during the handshake, before the client was ready: "
                + between.getLocalSocketAddress(), cause.getMessage());
    }

    /** The server is one of this transport, and has refused nothing. */
    @OnEachLane
    void aClientThatFindsOutAsksOnceMore() throws Exception {
        try (Announcement forged = Announcement.open((InetSocketAddress) between.getLocalSocketAddress())) {
            assertNotNull(forged);
            ChannelFuture connect = connectTooLate(client(UcxConnectMode.ANNOUNCED));
            try (Socket client = between.accept(); Socket upstream = new Socket(server.getAddress(), server.getPort())) {
                Thread.ofVirtual().start(() -> passOn(client, upstream));
                Thread.ofVirtual().start(() -> passOn(upstream, client));
                UcxSocketChannel channel = (UcxSocketChannel) Peers.await(connect).channel();
                assertTrue(Lane.current().has(channel.lane()), channel::lane);
                assertEquals(List.of(), inbox.exceptions());
                Peers.await(channel.close());
            }
        }
    }

    private ChannelFuture connectTooLate(Bootstrap bootstrap) throws Exception {
        Channel channel = Peers.await(bootstrap.register()).channel();
        ChannelFuture connect = channel.connect(between.getLocalSocketAddress());
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        try (Socket client = between.accept(); Socket upstream = new Socket(server.getAddress(), server.getPort())) {
            passOnOnce(client, upstream);
            channel.eventLoop().execute(() -> {
                held.countDown();
                await(done);
            });
            await(held);
            passOnOnce(upstream, client);
            int port = client.getPort();
            client.close();
            Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the end has come to port " + port,
                    () -> isEnded(port));
        } finally {
            done.countDown();
        }
        return connect;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether the socket that has that local port has been told of its peer's end. */
    private static boolean isEnded(int port) throws IOException {
        String local = String.format(Locale.ROOT, ":%04X", port);
        return Files.readAllLines(Path.of("/proc/net/tcp")).stream().map(line -> line.trim().split(" +"))
                .anyMatch(fields -> fields[1].endsWith(local) && fields[3].equals(CLOSE_WAIT));
    }

    /** What one side says comes in one piece. */
    private static void passOnOnce(Socket from, Socket to) throws IOException {
        byte[] part = new byte[4096];
        int length = from.getInputStream().read(part);
        to.getOutputStream().write(part, 0, length);
    }

    private static void passOn(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
            to.shutdownOutput();
        } catch (IOException e) {
            // An end as well.
        }
    }
}
