// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.ProtocolException;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Ordinary TCP clients come to the port of a server of this transport, beside clients of its own. */
class PlainPeersTest {

    private static final int SECONDS = 15;
    private static final int LARGE = 4 * 1024 * 1024;
    private static final int GRACE_MILLIS = 150;
    /** Where clients of our own come: on a busy machine they may say nothing for a while. */
    private static final int LONG_GRACE_MILLIS = 5000;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    // ------------------------------------------------------------------------------------------- clients and servers

    /** Answers with what it is told. */
    private static class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private UcxServerSocketChannel listen(UcxPlainPeers plainPeers, Supplier<ChannelHandler> child) throws Exception {
        return listen(plainPeers, GRACE_MILLIS, child);
    }

    private UcxServerSocketChannel listen(UcxPlainPeers plainPeers, int graceMillis, Supplier<ChannelHandler> child)
            throws Exception {
        ServerBootstrap server = peers.server(child).childOption(UcxChannelOption.PLAIN_GRACE_MILLIS, graceMillis);
        if (plainPeers != null) {
            server.childOption(UcxChannelOption.PLAIN_PEERS, plainPeers);
        }
        return peers.listen(server);
    }

    private static Socket connect(UcxServerSocketChannel server) throws IOException {
        Socket socket = new Socket(server.localAddress().getAddress(), server.localAddress().getPort());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(SECONDS));
        return socket;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void say(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(bytes(text));
    }

    private static String hear(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), StandardCharsets.ISO_8859_1);
    }

    private static String hearAll(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private void assertOursAreServed(UcxServerSocketChannel server) throws Exception {
        Inbox inbox = new Inbox();
        UcxSocketChannel client = peers.connect(server, inbox);
        assertTrue(Lane.SHM.has(client.lane()), client::lane);
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("ours", StandardCharsets.ISO_8859_1)));
        inbox.awaitText("ours");
        Peers.await(client.close());
    }

    private UcxMetrics serverMetrics() {
        EventLoop loop = TestLoops.first(peers.serverGroup);
        return TestLoops.driver(loop).metrics();
    }

    /** The server's loop does it in its own time. */
    private void awaitFailures(long expected, HandshakeFailure reason) throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), reason::toString,
                () -> serverMetrics().handshakesFailed(reason) >= expected);
        assertEquals(expected, serverMetrics().handshakesFailed(reason), reason::toString);
    }

    /** They are counted after the failure. */
    private void awaitStrangers(long expected) throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> serverMetrics().strangersTurnedAway() + " strangers",
                () -> serverMetrics().strangersTurnedAway() >= expected);
        assertEquals(expected, serverMetrics().strangersTurnedAway());
    }

    // ------------------------------------------------------------------------------------------- who speaks is served

    @Test
    void whoSpeaksIsServedBesideClientsOfOurOwn() throws Exception {
        CompletableFuture<UcxSocketChannel> accepted = new CompletableFuture<>();
        UcxServerSocketChannel server = listen(null, () -> new Echo() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                accepted.complete((UcxSocketChannel) context.channel());
            }
        });
        try (Socket ordinary = connect(server)) {
            say(ordinary, "hello");
            assertEquals("hello", hear(ordinary, 5));
            UcxSocketChannel channel = accepted.get();
            assertEquals("socket", channel.lane());
            assertEquals(ordinary.getLocalSocketAddress(), channel.remoteAddress());
            assertEquals(ordinary.getRemoteSocketAddress(), channel.localAddress());
            assertOursAreServed(server);
            say(ordinary, "again");
            assertEquals("again", hear(ordinary, 5));
        }
        assertEquals(0, serverMetrics().handshakesFailed());
        assertEquals(0, serverMetrics().strangersTurnedAway());
    }

    @Test
    void manyBytesComeAndGoUnchanged() throws Exception {
        UcxServerSocketChannel server = listen(null, Echo::new);
        SeededBytes seeded = new SeededBytes(17);
        byte[] sent = seeded.at(0, LARGE);
        try (Socket ordinary = connect(server)) {
            CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
                try {
                    ordinary.getOutputStream().write(sent);
                    ordinary.shutdownOutput();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            byte[] heard = ordinary.getInputStream().readNBytes(LARGE);
            sending.get(SECONDS, TimeUnit.SECONDS);
            assertArrayEquals(sent, heard);
        }
    }

    @Test
    void whoBeginsAsAHandshakeDoesAndGoesOnOtherwiseIsServed() throws Exception {
        UcxServerSocketChannel server = listen(null, Echo::new);
        for (String beginning : new String[] {"N", "Nett", "NettyUC"}) {
            try (Socket ordinary = connect(server)) {
                say(ordinary, beginning);
                // Nothing tells when the server has read it: given 20 ms it has, on any but a busy machine, and together
                // with the rest it is no less a plain client's.
                Thread.sleep(20);
                say(ordinary, "less");
                assertEquals(beginning + "less", hear(ordinary, beginning.length() + 4));
            }
            try (Socket ordinary = connect(server)) {
                say(ordinary, beginning);
                ordinary.shutdownOutput();
                assertEquals(beginning, hear(ordinary, beginning.length()));
            }
        }
        try (Socket ordinary = connect(server)) {
            say(ordinary, "NettyUCX is what a handshake begins with");
            // Hears why it is not welcome, or nothing.
            awaitFailures(1, HandshakeFailure.OTHER_PROTOCOL_VERSION);
        }
        assertOursAreServed(server);
    }

    @Test
    void aHalfCloseIsNoClose() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(peers.server(() -> child)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        try (Socket ordinary = connect(server)) {
            say(ordinary, "question");
            ordinary.shutdownOutput();
            child.awaitText("question");
            child.awaitInputShutdown();
            UcxSocketChannel channel = child.awaitActive();
            assertTrue(channel.isActive());
            Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("answer", StandardCharsets.ISO_8859_1)));
            Peers.await(channel.close());
            assertEquals("answer", hearAll(ordinary));
        }
    }

    @Test
    void aResetIsAnException() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = listen(null, () -> child);
        Socket ordinary = connect(server);
        say(ordinary, "question");
        child.awaitText("question");
        ordinary.setSoLinger(true, 0);
        ordinary.close();
        assertEquals("Connection reset by peer", child.awaitException().getMessage());
        child.awaitInactive();
    }

    // ------------------------------------------------------------------------------------------- who does not speak

    @Test
    void whoSaysNothingAndGoesWasNeverConnected() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = listen(null, () -> child);
        connect(server).close();
        awaitFailures(1, HandshakeFailure.CLOSED_BY_PEER);
        assertOursAreServed(listen(null, Echo::new));
        child.awaitInactive();
        assertFalse(child.isConnected(), "a client that has said nothing has a connection");
    }

    @Test
    void whoWaitsForTheServerIsTurnedAwayWhenTheHandshakesTimeIsOver() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(peers.server(() -> child)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, GRACE_MILLIS));
        long start = System.nanoTime();
        try (Socket ordinary = connect(server)) {
            assertEquals("", hearAll(ordinary));
        }
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(GRACE_MILLIS));
        awaitFailures(1, HandshakeFailure.TIMED_OUT);
        awaitStrangers(1);
        child.awaitInactive();
        assertFalse(child.isConnected());
    }

    @Test
    void whoWaitsForTheServerIsServedWhereAllAre() throws Exception {
        Supplier<ChannelHandler> child = () -> new Echo() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(Unpooled.copiedBuffer("220 ready", StandardCharsets.ISO_8859_1));
            }
        };
        UcxServerSocketChannel server = listen(UcxPlainPeers.ALL, child);
        long start = System.nanoTime();
        try (Socket ordinary = connect(server)) {
            assertEquals("220 ready", hear(ordinary, 9));
            assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(GRACE_MILLIS));
            say(ordinary, "hello");
            assertEquals("hello", hear(ordinary, 5));
        }
        // Who speaks does not wait.
        try (Socket ordinary = connect(server)) {
            say(ordinary, "hello");
            assertEquals("220 readyhello", hear(ordinary, 14));
        }
        Inbox inbox = new Inbox();
        UcxSocketChannel ours = peers.connect(listen(UcxPlainPeers.ALL, LONG_GRACE_MILLIS, child), inbox);
        assertTrue(Lane.SHM.has(ours.lane()), ours::lane);
        inbox.awaitText("220 ready");
    }

    @Test
    void whoSaysNothingAndGoesWasThereWhereAllAreServed() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = listen(UcxPlainPeers.ALL, () -> child);
        connect(server).close();
        child.awaitActive();
        child.awaitInactive();
        assertEquals("", child.text());
        assertEquals(0, serverMetrics().handshakesFailed());
    }

    /** A loop that is busy with tasks and messages looks at its sockets now and then. */
    @Test
    void clientsOfOursAreNotTakenForOrdinaryOnesByABusyServer() throws Exception {
        UcxServerSocketChannel server = listen(UcxPlainPeers.ALL, LONG_GRACE_MILLIS, Echo::new);
        peers.connect(server, new Inbox());
        AtomicBoolean busy = new AtomicBoolean(true);
        EventLoop loop = TestLoops.first(peers.serverGroup);
        loop.execute(() -> workWhile(busy, loop));
        try {
            assertOursAreServed(server);
        } finally {
            busy.set(false);
        }
    }

    /** Long tasks, with turns of the loop between them. */
    private static void workWhile(AtomicBoolean busy, EventLoop loop) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(5);
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        if (busy.get()) {
            loop.execute(() -> workWhile(busy, loop));
        }
    }

    // ------------------------------------------------------------------------------------------- nobody is

    @Test
    void ordinaryClientsAreTurnedAwayWhereTheyAreRefused() throws Exception {
        AtomicInteger connected = new AtomicInteger();
        UcxServerSocketChannel server = listen(UcxPlainPeers.REFUSE, () -> new Echo() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                if (!((UcxSocketChannel) context.channel()).transports().isEmpty()) {
                    connected.incrementAndGet();
                }
            }
        });
        try (Socket ordinary = connect(server)) {
            say(ordinary, "hello");
            assertEquals("", hearAll(ordinary));
        }
        awaitFailures(1, HandshakeFailure.PLAIN_REFUSED);
        awaitStrangers(1);
        assertEquals(0, connected.get());
        assertOursAreServed(server);
        assertEquals(1, connected.get());
    }

    // ------------------------------------------------------------------------------------------- of another transport

    @Test
    void httpOverNettysOwnTransport() throws Exception {
        UcxServerSocketChannel server = listen(null, () -> new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(LARGE), new Doubler());
            }
        });
        EventLoopGroup nio = new NioEventLoopGroup(1);
        try {
            CompletableFuture<String> answer = new CompletableFuture<>();
            Channel client = Peers.await(new Bootstrap().group(nio).channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(LARGE),
                                    new Reader(answer));
                        }
                    }).connect(server.localAddress())).channel();
            FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/",
                    Unpooled.copiedBuffer("x".repeat(100_000), StandardCharsets.US_ASCII));
            request.headers().set(HttpHeaderNames.CONTENT_LENGTH, 100_000);
            Peers.await(client.writeAndFlush(request));
            assertEquals("x".repeat(200_000), answer.get(SECONDS, TimeUnit.SECONDS));
            Peers.await(client.close());
        } finally {
            Peers.await(nio.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        }
    }

    private static final class Doubler extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            ByteBuf content = Unpooled.buffer().writeBytes(request.content().duplicate())
                    .writeBytes(request.content().duplicate());
            FullHttpResponse response =
                    new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content);
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
            context.writeAndFlush(response);
        }
    }

    private static final class Reader extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final CompletableFuture<String> answer;

        Reader(CompletableFuture<String> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            answer.complete(response.content().toString(StandardCharsets.US_ASCII));
        }
    }

    // ------------------------------------------------------------------------------------------- neighbours

    /** A client of this host may be one of ours: it is looked at, and if it says nothing it waits. */
    @Test
    void neighboursMayBeOfEitherKind() throws Exception {
        UcxServerSocketChannel server = listen(UcxPlainPeers.NEIGHBOURS, LONG_GRACE_MILLIS, Echo::new);
        assertOursAreServed(server);
        try (Socket speaking = connect(server)) {
            say(speaking, "hello");
            assertEquals("hello", hear(speaking, 5));
        }
        UcxServerSocketChannel greeting = listen(UcxPlainPeers.NEIGHBOURS, () -> new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(Unpooled.copiedBuffer("220 ready", StandardCharsets.ISO_8859_1));
            }
        });
        try (Socket silent = connect(greeting)) {
            assertEquals("220 ready", hear(silent, 9));
        }
    }

    /** The client has been slow, on a busy machine for example: the application must not take its HELLO for data. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 100})
    void aHandshakeThatComesAfterItsGraceIsNothingForTheApplication(int firstPiece) throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = listen(UcxPlainPeers.NEIGHBOURS, () -> child);
        byte[] hello = HandshakeBytes.hello("socket");
        try (Socket late = connect(server)) {
            // From its first piece on it has another grace.
            child.awaitActive().config().setOption(UcxChannelOption.PLAIN_GRACE_MILLIS, (int) TimeUnit.MINUTES.toMillis(1));
            late.getOutputStream().write(hello, 0, firstPiece);
            // The first piece is looked at by itself, if it is there when the loop has nothing else to do.
            Peers.await(TestLoops.first(peers.serverGroup).schedule(() -> { }, 20, TimeUnit.MILLISECONDS));
            try {
                late.getOutputStream().write(hello, firstPiece, hello.length - firstPiece);
                assertEquals("", hearAll(late));
            } catch (SocketException e) {
                // As well: it has been reset.
            }
            child.awaitInactive();
        }
        assertEquals("", child.text());
        assertInstanceOf(ProtocolException.class, child.awaitException());
    }

    @Test
    void whatOnlyBeginsLikeAHandshakeIsTheApplications() throws Exception {
        CompletableFuture<Channel> active = new CompletableFuture<>();
        UcxServerSocketChannel server = listen(UcxPlainPeers.NEIGHBOURS, () -> new Echo() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                active.complete(context.channel());
            }
        });
        try (Socket late = connect(server)) {
            Channel child = active.get(SECONDS, TimeUnit.SECONDS);
            say(late, "Netty");
            Peers.await(child.eventLoop().schedule(() -> { }, 20, TimeUnit.MILLISECONDS));
            say(late, " is asynchronous");
            assertEquals("Netty is asynchronous", hear(late, 21));
        }
        try (Socket ended = connect(server)) {
            say(ended, "N");
            ended.shutdownOutput();
            assertEquals("N", hearAll(ended));
        }
    }

    @Test
    void whatIsSetOnTheServerIsTheDefaultOfItsConnections() throws Exception {
        UcxServerSocketChannel refusing = peers.listen(peers.server(Echo::new)
                .option(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE));
        try (Socket socket = connect(refusing)) {
            say(socket, "hello there");
            assertEquals("", hearAll(socket));
        }
        UcxServerSocketChannel told = peers.listen(peers.server(Echo::new)
                .option(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE)
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.SPEAKING));
        try (Socket socket = connect(told)) {
            say(socket, "hello there");
            assertEquals("hello there", hear(socket, 11));
        }
    }
}
