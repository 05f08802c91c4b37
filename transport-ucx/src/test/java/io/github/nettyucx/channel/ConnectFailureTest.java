// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.DefaultChannelPromise;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Connects that come to nothing say why, in time, and leave the loop as it was. */
@Timeout(60)
class ConnectFailureTest {

    private static final int CONNECT_TIMEOUT_MILLIS = 500;
    /** The quickest of many. */
    private static final int REFUSED_MILLIS = 1000;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    // ------------------------------------------------------------------------------------------- nobody there

    @OnEachLane
    void aPortOnWhichNobodyListensRefusesAtOnce() throws Exception {
        // Time is taken when UCX is loaded and ready.
        assertLoopsWork();
        // Bound: nobody else can get the port meanwhile.
        try (Socket nobody = new Socket()) {
            nobody.bind(Peers.loopback(0));
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 20; round++) {
                long start = System.nanoTime();
                ChannelFuture connect = peers.client(new Inbox()).connect(nobody.getLocalSocketAddress());
                // Waits for less than a connect may take.
                Throwable failure = Peers.awaitFailure(connect);
                least = Math.min(least, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
                assertInstanceOf(ConnectException.class, failure);
                assertTrue(failure.getMessage().contains("refused"), failure::toString);
                assertTrue(failure.getMessage().contains("127.0.0.1:" + nobody.getLocalPort()), failure::toString);
                // The bootstrap closes it.
                Peers.await(connect.channel().closeFuture());
            }
            assertTrue(least < REFUSED_MILLIS, "told after " + least + " ms");
        }
        assertLoopsWork();
    }

    @Test
    void aHostWithoutAnAddress() throws Exception {
        ChannelFuture connect = peers.client(new Inbox()).connect("host.invalid", 4711);
        Throwable failure = Peers.awaitFailure(connect);
        assertInstanceOf(UnknownHostException.class, failure);
        assertTrue(failure.getMessage().contains("host.invalid"), failure::toString);
        Peers.await(connect.channel().closeFuture());
    }

    /** The kernel refuses it, as a link-local address needs a scope, with an error that java.net has no exception for. */
    @Test
    void whateverTheFailureItSaysToWhereTheConnectWas() throws Exception {
        assumeTrue(KernelSocket.isIpv6Available(), "a machine without IPv6 has no link-local address to connect to");
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral("fe80::1"), 4711);
        Throwable failure = Peers.awaitFailure(peers.client(new Inbox()).connect(address));
        assertInstanceOf(IOException.class, failure);
        assertEquals("connect failed: Invalid argument: " + address, failure.getMessage());
        failure = Peers.awaitFailure(new Bootstrap().group(peers.clientGroup).channel(UcxDatagramChannel.class)
                .handler(new Inbox()).connect(address));
        assertEquals("connect failed: Invalid argument: " + address, failure.getMessage());
    }

    /** The last step of a connect is the application's own: what it throws must not leave a connection that nobody knows. */
    @OnEachLane
    void aConnectionThatCannotBeHandedOverIsClosedAndSaysSo() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(new Inbox()).register()).channel();
        ChannelFuture connect = channel.connect(server.localAddress(), new DefaultChannelPromise(channel) {
            @Override
            public boolean trySuccess(Void result) {
                throw new IllegalStateException("nobody wants to hear of a success, as the test wants it");
            }

            @Override
            public boolean trySuccess() {
                return trySuccess(null);
            }
        });
        Throwable failure = Peers.awaitFailure(connect);
        assertTrue(failure.getMessage().contains("could not be used"), failure::toString);
        assertInstanceOf(IllegalStateException.class, failure.getCause().getCause());
        Peers.await(channel.closeFuture());
        Peers.await(child.awaitActive().closeFuture());
        Eventually.await(15_000, () -> "the socket is still there", () -> channel.config().socketOptions().socket() == null);
        assertLoopsWork();
    }

    // ------------------------------------------------------------------------------------------- misuse

    @Test
    void anAddressHasToBeResolved() throws Exception {
        Channel channel = Peers.await(peers.client(new Inbox()).register()).channel();
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("localhost", 4711);
        assertInstanceOf(UnresolvedAddressException.class, Peers.awaitFailure(channel.connect(unresolved)));
        assertStillConnects(channel);
    }

    @Test
    void anAddressHasToBeOfTheInternet() throws Exception {
        Channel channel = Peers.await(peers.client(new Inbox()).register()).channel();
        Throwable failure = Peers.awaitFailure(channel.connect(new Elsewhere()));
        assertInstanceOf(IllegalArgumentException.class, failure);
        assertTrue(failure.getMessage().contains("Elsewhere; expected an InetSocketAddress"), failure::toString);
        assertStillConnects(channel);
    }

    @Test
    void theLocalAddressHasToBeOfTheInternet() throws Exception {
        Channel channel = Peers.await(peers.client(new Inbox()).register()).channel();
        Channel server = peers.listen(Inbox::new);
        Throwable failure = Peers.awaitFailure(channel.connect(server.localAddress(), new Elsewhere()));
        assertInstanceOf(IllegalArgumentException.class, failure);
        assertTrue(failure.getMessage().contains("expected an InetSocketAddress"), failure::toString);
        assertStillConnects(channel);
    }

    private static final class Elsewhere extends SocketAddress {
        private static final long serialVersionUID = 1;
    }

    private void assertStillConnects(Channel channel) throws InterruptedException {
        Peers.await(channel.connect(peers.listen(Inbox::new).localAddress()));
        assertTrue(channel.isActive());
        Peers.await(channel.close());
    }

    @Test
    void aChannelConnectsOnce() throws Exception {
        Channel server = peers.listen(Inbox::new);
        UcxSocketChannel channel = peers.connect(server, new Inbox());
        assertInstanceOf(AlreadyConnectedException.class,
                Peers.awaitFailure(channel.connect(server.localAddress())));
        assertTrue(channel.isActive());
        assertEquals(server.localAddress(), channel.remoteAddress());
        Peers.await(channel.close());
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(channel.connect(server.localAddress())));
    }

    @Test
    void aSecondConnectDoesNotDisturbTheFirst() throws Exception {
        Channel server = peers.listen(Inbox::new);
        Channel channel = Peers.await(peers.client(new Inbox()).register()).channel();
        ChannelFuture[] both = new ChannelFuture[2];
        Peers.await(channel.eventLoop().submit(() -> {
            both[0] = channel.connect(server.localAddress());
            both[1] = channel.connect(server.localAddress());
        }));
        assertInstanceOf(ConnectionPendingException.class, Peers.awaitFailure(both[1]));
        Peers.await(both[0]);
        assertTrue(channel.isActive());
    }

    @Test
    void onlyBuffersAndFileRegionsCanBeWritten() throws Exception {
        Inbox child = new Inbox();
        Channel channel = peers.connect(peers.listen(() -> child), new Inbox());
        Throwable failure = Peers.awaitFailure(channel.writeAndFlush("text"));
        assertInstanceOf(UnsupportedOperationException.class, failure);
        assertTrue(failure.getMessage().startsWith("unsupported message type: String (expected: ByteBuf"),
                failure::toString);
        Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("bytes", StandardCharsets.ISO_8859_1)));
        Peers.await(channel.close());
        child.awaitInactive();
        assertEquals("bytes", child.text());
    }

    @Test
    void aClosedChannelFailsWritesAndReleasesThem() throws Exception {
        Channel channel = peers.connect(peers.listen(Inbox::new), new Inbox());
        Peers.await(channel.close());
        ByteBuf message = Unpooled.copyInt(1);
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(channel.writeAndFlush(message)));
        assertEquals(0, message.refCnt());
    }

    // ------------------------------------------------------------------------------------------- somebody else there

    @OnEachLane
    void aServerThatSaysNothingIsGivenUpInTime() throws Exception {
        giveUpSilentServer(peers.client(new Inbox())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS));
    }

    /** Without a limit for the connect there is still one for the handshake. */
    @OnEachLane(lanes = Lane.SOCKET)
    void aServerThatSaysNothingIsGivenUpWithoutALimitForTheConnect() throws Exception {
        giveUpSilentServer(peers.client(new Inbox()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
                .option(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS));
    }

    private void giveUpSilentServer(Bootstrap client) throws Exception {
        assertLoopsWork();
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"))) {
            long start = System.nanoTime();
            ChannelFuture connect = client.connect(silent.getLocalSocketAddress());
            Throwable failure = Peers.awaitFailure(connect);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertInstanceOf(ConnectTimeoutException.class, failure);
            assertTrue(failure.getMessage().contains("127.0.0.1:" + silent.getLocalPort()), failure::toString);
            assertTrue(failure.getMessage().contains(CONNECT_TIMEOUT_MILLIS + " ms"), failure::toString);
            // And less than Peers waits.
            assertTrue(millis >= CONNECT_TIMEOUT_MILLIS, () -> "given up after " + millis + " ms");
            Peers.await(connect.channel().closeFuture());
            // And the peer is told.
            try (Socket accepted = silent.accept()) {
                accepted.setSoTimeout(15_000);
                accepted.getInputStream().transferTo(OutputStream.nullOutputStream());
            }
        }
        assertLoopsWork();
    }

    @OnEachLane
    void aServerThatSpeaksHttpIsNoneOfOurs() throws Exception {
        try (ServerSocket http = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"))) {
            CompletableFuture<Socket> answered = CompletableFuture.supplyAsync(() -> answerOnce(http));
            // At once: its time to connect in is longer than this waits.
            ChannelFuture connect = peers.client(new Inbox()).connect(http.getLocalSocketAddress());
            Throwable failure = Peers.awaitFailure(connect);
            assertEquals(HandshakeFailure.OTHER_PROGRAM, assertInstanceOf(HandshakeException.class, failure).reason());
            assertTrue(failure.getMessage().contains("127.0.0.1:" + http.getLocalPort()), failure::toString);
            Peers.await(connect.channel().closeFuture());
            answered.get(15, TimeUnit.SECONDS).close();
        }
        assertLoopsWork();
    }

    private static Socket answerOnce(ServerSocket server) {
        try {
            Socket socket = server.accept();
            socket.getOutputStream().write(("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n"
                    + "Server: none of yours\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
            socket.shutdownOutput();
            return socket;
        } catch (IOException e) {
            throw new AssertionError("the server cannot answer", e);
        }
    }

    @OnEachLane
    void aServerThatHangsUpIsTold() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"))) {
            ChannelFuture connect = peers.client(new Inbox()).connect(server.getLocalSocketAddress());
            server.accept().close();
            Throwable failure = Peers.awaitFailure(connect);
            assertInstanceOf(ConnectException.class, failure);
            assertFalse(failure instanceof ConnectTimeoutException, failure::toString);
            assertTrue(failure.getMessage().contains("127.0.0.1:" + server.getLocalPort()), failure::toString);
        }
        assertLoopsWork();
    }

    @Test
    void aCancelledConnectClosesItsChannel() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"))) {
            for (int round = 0; round < 100; round++) {
                Channel channel = Peers.await(peers.client(new Inbox()).register()).channel();
                ChannelFuture connect = channel.connect(silent.getLocalSocketAddress());
                // The connect is under way.
                Peers.await(channel.eventLoop().submit(() -> { }));
                assertTrue(connect.cancel(false));
                Peers.await(channel.closeFuture());
                assertFalse(channel.isOpen());
            }
        }
        assertLoopsWork();
    }

    private void assertLoopsWork() throws InterruptedException {
        Peers.await(peers.connect(peers.listen(Inbox::new), new Inbox()).close());
    }
}
