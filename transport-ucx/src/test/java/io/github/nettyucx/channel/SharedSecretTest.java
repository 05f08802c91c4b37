// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Who does not know the secret gets no connection, and is told so at once. */
class SharedSecretTest {

    private static final byte[] SECRET = bytes("sixteen or more bytes");
    private static final byte[] OTHER = bytes("sixteen or more bytez");
    private static final int TIMEOUT_MILLIS = 20_000;
    /** Also for the first connection of a process. What is not told takes the whole time-out. */
    private static final long AT_ONCE_MILLIS = 15_000;

    private final Inbox child = new Inbox();
    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private ServerBootstrap server(byte[] secret) {
        ServerBootstrap server = peers.server(() -> child)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS);
        return secret == null ? server : server.childOption(UcxChannelOption.SHARED_SECRET, secret);
    }

    private Bootstrap client(byte[] secret) {
        Bootstrap client = peers.client(new Inbox()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS);
        return secret == null ? client : client.option(UcxChannelOption.SHARED_SECRET, secret);
    }

    private UcxMetrics serverMetrics() {
        return TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
    }

    private UcxMetrics awaitFailure() throws Exception {
        // Of what is counted then, that is the last.
        Eventually.await(AT_ONCE_MILLIS, () -> "a stranger", () -> serverMetrics().strangersTurnedAway() > 0);
        return serverMetrics();
    }

    // ------------------------------------------------------------------------------------------- both know it

    @ParameterizedTest
    @MethodSource("io.github.nettyucx.channel.Lane#chosen")
    void whoKnowsItIsConnected(Lane lane) throws Exception {
        UcxServerSocketChannel server = peers.listen(server(SECRET)
                .childOption(UcxChannelOption.LANES, lane.toString()));
        UcxSocketChannel channel = Peers.connect(client(SECRET.clone())
                .option(UcxChannelOption.LANES, lane.toString()), server);
        assertTrue(lane.has(channel.lane()), channel::lane);
        Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("there", StandardCharsets.ISO_8859_1)));
        child.awaitText("there");
        // A second one takes the link of the first.
        assertEquals(channel.lane(), Peers.connect(client(SECRET)
                .option(UcxChannelOption.LANES, lane.toString()), server).lane());
    }

    /** The option is not what an application can read it from, nor is the array its own any more. */
    @Test
    void itIsCopiedAndNotShown() throws Exception {
        UcxServerSocketChannel server = peers.listen(server(SECRET));
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(client(null).register()).channel();
        UcxSocketChannelConfig config = channel.config();
        byte[] mine = SECRET.clone();
        config.setOption(UcxChannelOption.SHARED_SECRET, mine);
        mine[0]++;
        Peers.await(channel.connect(server.localAddress()));
        assertFalse(config.getOptions().containsKey(UcxChannelOption.SHARED_SECRET));
        assertFalse(config.getOptions().toString().contains("sixteen"));
    }

    @Test
    void aShortOneIsToldAtOnce() {
        UcxSocketChannelConfig config = new UcxSocketChannel().config();
        Throwable failure = assertThrows(IllegalArgumentException.class,
                () -> config.setOption(UcxChannelOption.SHARED_SECRET, new byte[15]));
        assertTrue(failure.getMessage().contains("15 bytes; expected 16"), failure::getMessage);
    }

    // ------------------------------------------------------------------------------------------- they do not

    @Test
    void whoHasAnotherIsTold() throws Exception {
        assertRefused(SECRET, OTHER, HandshakeFailure.WRONG_SECRET, "secret");
    }

    @Test
    void aClientWithoutIsTold() throws Exception {
        assertRefused(SECRET, null, HandshakeFailure.NO_SECRET, "the client has no shared secret");
    }

    @Test
    void aServerWithoutIsTold() throws Exception {
        assertRefused(null, SECRET, HandshakeFailure.NO_SECRET, "the server has no shared secret");
    }

    @ParameterizedTest
    @MethodSource("io.github.nettyucx.channel.Lane#chosen")
    void theLaneMakesNoDifference(Lane lane) throws Exception {
        UcxServerSocketChannel server = peers.listen(server(SECRET)
                .childOption(UcxChannelOption.LANES, lane.toString()));
        // A link that the two loops have already is not for everybody.
        Peers.connect(client(SECRET).option(UcxChannelOption.LANES, lane.toString()), server);
        assertFails(client(OTHER).option(UcxChannelOption.LANES, lane.toString()).connect(server.localAddress()),
                HandshakeFailure.WRONG_SECRET, "secret");
        assertFails(client(null).option(UcxChannelOption.LANES, lane.toString()).connect(server.localAddress()),
                HandshakeFailure.NO_SECRET, "SHARED_SECRET");
    }

    private void assertRefused(byte[] servers, byte[] clients, HandshakeFailure reason, String text) throws Exception {
        UcxServerSocketChannel server = peers.listen(server(servers));
        assertFails(client(clients).connect(server.localAddress()), reason, text);
        UcxMetrics metrics = awaitFailure();
        assertEquals(1, metrics.handshakesFailed(reason), reason::toString);
        assertEquals(1, metrics.handshakesFailed());
        assertEquals(1, metrics.strangersTurnedAway());
        assertEquals(1, TestLoops.driver(TestLoops.first(peers.clientGroup)).metrics().handshakesFailed(reason));
        child.awaitInactive();
        assertFalse(child.isConnected());
        // Those who know it are not kept out.
        Peers.connect(client(servers), server);
    }

    private static void assertFails(ChannelFuture connect, HandshakeFailure reason, String text) throws Exception {
        long start = System.nanoTime();
        Throwable failure = Peers.awaitFailure(connect);
        assertTrue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) < AT_ONCE_MILLIS, "told late");
        assertSame(reason, assertInstanceOf(HandshakeException.class, failure).reason(), failure::toString);
        assertTrue(failure.getMessage().contains(text), failure::getMessage);
        assertFalse(failure.getMessage().contains("sixteen"), failure::getMessage);
    }

    // ------------------------------------------------------------------------------------------- ordinary clients

    @Test
    void ordinaryClientsAreRefusedUnlessTheyAreAllowed() throws Exception {
        UcxServerSocketChannel server = peers.listen(server(SECRET));
        try (Socket ordinary = new Socket(server.localAddress().getAddress(), server.localAddress().getPort())) {
            ordinary.setSoTimeout(TIMEOUT_MILLIS);
            ordinary.getOutputStream().write(bytes("hello"));
            assertEquals(-1, ordinary.getInputStream().read());
        }
        assertEquals(1, awaitFailure().handshakesFailed(HandshakeFailure.PLAIN_REFUSED));
        child.awaitInactive();
        assertFalse(child.isConnected());
        Inbox served = new Inbox();
        UcxServerSocketChannel tolerant = peers.listen(peers.server(() -> served)
                .childOption(UcxChannelOption.SHARED_SECRET, SECRET)
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.SPEAKING));
        try (Socket ordinary = new Socket(tolerant.localAddress().getAddress(), tolerant.localAddress().getPort())) {
            ordinary.getOutputStream().write(bytes("hello"));
            served.awaitText("hello");
        }
    }

    /** Neither option is there yet when the channel is registered. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void soTheyAreWhenAnInitializerSaysIt(boolean bySecret) throws Exception {
        UcxServerSocketChannel server = peers.listen(peers.server(() -> child)
                .childHandler(new ChannelInitializer<UcxSocketChannel>() {
                    @Override
                    protected void initChannel(UcxSocketChannel channel) {
                        if (bySecret) {
                            channel.config().setOption(UcxChannelOption.SHARED_SECRET, SECRET);
                        } else {
                            channel.config().setOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE);
                        }
                        channel.pipeline().addLast(child);
                    }
                }));
        try (Socket ordinary = new Socket(server.localAddress().getAddress(), server.localAddress().getPort())) {
            ordinary.setSoTimeout(TIMEOUT_MILLIS);
            ordinary.getOutputStream().write(bytes("hello"));
            assertEquals(-1, ordinary.getInputStream().read());
        }
        assertEquals(1, awaitFailure().handshakesFailed(HandshakeFailure.PLAIN_REFUSED));
        child.awaitInactive();
        assertFalse(child.isConnected());
    }
}
