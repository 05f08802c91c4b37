// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Clients whose first bytes are the beginning of a handshake's, and who say no more: they wait for an answer. */
@Timeout(60)
class HesitantClientTest {

    private static final int SECONDS = 8;
    private static final int GRACE_MILLIS = 150;
    private static final int NEVER = 3_600_000;
    private static final String[] BEGINNINGS = {"N", "Nett", "NettyUC"};

    private final CompletableFuture<Channel> active = new CompletableFuture<>();
    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelActive(ChannelHandlerContext context) {
            active.complete(context.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private ServerBootstrap server(UcxPlainPeers plainPeers, int graceMillis) {
        return peers.server(Echo::new).childOption(UcxChannelOption.PLAIN_PEERS, plainPeers)
                .childOption(UcxChannelOption.PLAIN_GRACE_MILLIS, graceMillis);
    }

    private static Socket connect(UcxServerSocketChannel server) throws IOException {
        Socket socket = new Socket(server.localAddress().getAddress(), server.localAddress().getPort());
        socket.setTcpNoDelay(true);
        // Less than the handshake's time.
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
        return socket;
    }

    private static void say(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String hear(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), StandardCharsets.ISO_8859_1);
    }

    private static void assertIsServed(Socket socket, String beginning) throws IOException {
        long start = System.nanoTime();
        say(socket, beginning);
        assertEquals(beginning, hear(socket, beginning.length()));
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(GRACE_MILLIS), "before its time");
        // What it says from now on is looked at no more.
        for (String rest : new String[] {"N", "NettyUCX is what a handshake begins with"}) {
            say(socket, rest);
            assertEquals(rest, hear(socket, rest.length()));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REFUSE")
    void whoSaysNoMoreIsServedAfterTheGrace(UcxPlainPeers plainPeers) throws Exception {
        UcxServerSocketChannel server = peers.listen(server(plainPeers, GRACE_MILLIS));
        for (String beginning : BEGINNINGS) {
            try (Socket socket = connect(server)) {
                assertIsServed(socket, beginning);
            }
        }
    }

    /** The connection has been open since: nothing that it says is looked at by a handshake. */
    @ParameterizedTest
    @EnumSource(names = {"ALL", "NEIGHBOURS"})
    void soIsWhoHasSaidNothingForLongBefore(UcxPlainPeers plainPeers) throws Exception {
        UcxServerSocketChannel server = peers.listen(server(plainPeers, GRACE_MILLIS));
        try (Socket socket = connect(server)) {
            active.get(SECONDS, TimeUnit.SECONDS);
            assertIsServed(socket, "N");
        }
    }

    /** It may be read later. */
    @Test
    void soIsWhoIsNotReadMeanwhile() throws Exception {
        UcxServerSocketChannel server = peers.listen(server(UcxPlainPeers.NEIGHBOURS, GRACE_MILLIS));
        try (Socket socket = connect(server)) {
            Channel child = active.get(SECONDS, TimeUnit.SECONDS);
            say(socket, "N");
            // Looked at by then.
            Peers.await(child.eventLoop().schedule(() -> child.config().setAutoRead(false), 20, TimeUnit.MILLISECONDS));
            Peers.await(child.eventLoop().schedule(() -> child.config().setAutoRead(true), 2 * GRACE_MILLIS,
                    TimeUnit.MILLISECONDS));
            assertEquals("N", hear(socket, 1));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REFUSE")
    void whoCannotBeginAHandshakeIsServedAtOnce(UcxPlainPeers plainPeers) throws Exception {
        UcxServerSocketChannel server = peers.listen(server(plainPeers, NEVER));
        for (String first : new String[] {"NO\n", "n", "NettyUCx"}) {
            try (Socket socket = connect(server)) {
                say(socket, first);
                assertEquals(first, hear(socket, first.length()));
            }
            try (Socket socket = connect(server)) {
                say(socket, first.substring(0, 1));
                // The first byte is looked at by itself, if it is there when the loop has nothing else to do.
                Peers.await(loop().schedule(() -> { }, 20, TimeUnit.MILLISECONDS));
                say(socket, first.substring(1));
                assertEquals(first, hear(socket, first.length()));
            }
        }
    }

    private EventLoop loop() {
        return TestLoops.first(peers.serverGroup);
    }

    @Test
    void aHandshakeInTwoPiecesIsOne() throws Exception {
        // What a lane of UCX takes to get ready is not what this is about.
        UcxServerSocketChannel server = peers.listen(server(UcxPlainPeers.SPEAKING, NEVER)
                .childOption(UcxChannelOption.LANES, "socket"));
        byte[] hello = HandshakeBytes.hello("socket");
        try (Socket socket = connect(server)) {
            socket.getOutputStream().write(hello, 0, 7);
            Peers.await(loop().schedule(() -> { }, 20, TimeUnit.MILLISECONDS));
            socket.getOutputStream().write(hello, 7, hello.length - 7);
            assertEquals("NettyUCX", hear(socket, 8));
        }
    }

    @Test
    void whoSaysNoMoreIsTurnedAwayWhereOrdinaryClientsAre() throws Exception {
        UcxServerSocketChannel server = peers.listen(server(UcxPlainPeers.REFUSE, GRACE_MILLIS)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, 2000));
        try (Socket socket = connect(server)) {
            say(socket, "N");
            assertEquals("", hear(socket, 1));
        }
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> metrics().handshakesFailed() + " failed",
                () -> metrics().handshakesFailed(HandshakeFailure.TIMED_OUT) == 1);
    }

    private UcxMetrics metrics() {
        return TestLoops.driver(loop()).metrics();
    }
}
