// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ipfilter.IpFilterRule;
import io.netty.handler.ipfilter.IpFilterRuleType;
import io.netty.handler.ipfilter.IpSubnetFilterRule;
import io.netty.handler.ipfilter.RuleBasedIpFilter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * An accepted channel can be closed before its handshake is over. As with a kernel's socket that is done at once, and its
 * client is connected, and then sees the end. Over the socket, whatever lane the two could have: a client that is not
 * wanted is not told how to reach this process's memory.
 */
@Tag("ucx-matrix")
class EarlyCloseTest {

    private static final int SECONDS = 15;
    private static final int TIMEOUT_MILLIS = 500;
    private static final int GRACE_MILLIS = 100;
    private static final int MANY = 40;
    private static final int ROUNDS = 5;
    private static final List<String> CONNECTED_AND_ENDED = List.of("active", "inactive");

    private final BlockingQueue<UcxSocketChannel> accepted = new LinkedBlockingQueue<>();
    /** What failed on a loop. */
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private LeakWatch leaks;
    private Peers peers;

    @BeforeEach
    void startLoops() {
        leaks = new LeakWatch();
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
        leaks.assertNothingLeft();
        assertEquals(List.of(), failures);
    }

    // ------------------------------------------------------------------------------------------- servers and clients

    private ServerBootstrap server(Consumer<UcxSocketChannel> first) {
        return peers.server(Inbox::new).childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(UcxChannelOption.LANES, Lane.current().orSocket())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        try {
                            first.accept((UcxSocketChannel) channel);
                        } catch (Throwable t) {
                            failures.add(t);
                        }
                        accepted.add((UcxSocketChannel) channel);
                    }
                });
    }

    private static void closeAtOnce(UcxSocketChannel channel) {
        ChannelFuture close = channel.close();
        assertTrue(close.isSuccess(), close::toString);
        assertFalse(channel.isOpen());
        assertFalse(channel.isActive());
    }

    private UcxSocketChannel awaitAccepted() throws InterruptedException {
        UcxSocketChannel channel = accepted.poll(SECONDS, TimeUnit.SECONDS);
        assertNotNull(channel, "nothing has been accepted");
        return channel;
    }

    /** Nothing of it is left. */
    private static void awaitOver(UcxSocketChannel channel) throws Exception {
        Eventually.await(SECONDS * 1000, () -> "the end of " + channel, channel::isOver);
        assertNull(channel.config().socketOptions().socket());
    }

    private UcxMetrics serverMetrics() {
        return TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
    }

    /** Remembers what it is told, in order. */
    private static final class Diary extends ChannelInboundHandlerAdapter {

        private final List<String> events = new ArrayList<>();
        private final CompletableFuture<List<String>> all = new CompletableFuture<>();

        @Override
        public void channelActive(ChannelHandlerContext context) {
            events.add("active");
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            events.add(buffer.toString(StandardCharsets.ISO_8859_1));
            buffer.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            events.add(cause.toString());
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            events.add("inactive");
            all.complete(events);
        }

        List<String> awaitEnd() throws Exception {
            return all.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Keeps its loop from the begin of a connect on: the kernel connects, and nothing is said. */
    private static final class Holding extends ChannelOutboundHandlerAdapter {

        private final CountDownLatch held = new CountDownLatch(1);

        @Override
        public void connect(ChannelHandlerContext context, SocketAddress remote, SocketAddress local,
                            ChannelPromise promise) throws Exception {
            super.connect(context, remote, local, promise);
            assertTrue(held.await(SECONDS, TimeUnit.SECONDS));
        }

        void letGo() {
            held.countDown();
        }
    }

    private ChannelFuture connect(Channel server, ChannelHandler... handlers) {
        return connect(server, Lane.current().orSocket(), handlers);
    }

    private ChannelFuture connect(Channel server, String lanes, ChannelHandler... handlers) {
        return peers.client(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handlers);
            }
        }).option(UcxChannelOption.LANES, lanes).connect(server.localAddress());
    }

    // ------------------------------------------------------------------------------------------- nothing to send

    @OnEachLane
    void inInitChannelACloseIsDoneWhenItReturns() throws Exception {
        Channel server = peers.listen(server(EarlyCloseTest::closeAtOnce));
        for (int round = 0; round < ROUNDS; round++) {
            Diary diary = new Diary();
            Peers.await(connect(server, diary));
            assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
            awaitOver(awaitAccepted());
        }
        assertEquals(0, serverMetrics().handshakesFailed());
    }

    @OnEachLane
    void manyAtOnceLeaveNothing() throws Exception {
        Channel server = peers.listen(server(EarlyCloseTest::closeAtOnce));
        for (int round = 0; round < ROUNDS; round++) {
            List<Diary> diaries = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                diaries.add(new Diary());
                connect(server, diaries.getLast());
            }
            for (Diary diary : diaries) {
                assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
            }
            for (int i = 0; i < MANY; i++) {
                awaitOver(awaitAccepted());
            }
        }
        IoDriver driver = TestLoops.driver(server.eventLoop());
        // The server itself.
        Eventually.await(SECONDS * 1000, () -> driver.channelCount() + " channels", () -> driver.channelCount() == 1);
        leaks.awaitNoBuffers();
    }

    @OnEachLane
    void aClientThatTakesItsTimeIsConnectedAllTheSame() throws Exception {
        Channel server = peers.listen(server(channel -> { }));
        Holding client = new Holding();
        Diary diary = new Diary();
        ChannelFuture connect = connect(server, client, diary);
        UcxSocketChannel channel = awaitAccepted();
        Peers.await(channel.eventLoop().submit(() -> closeAtOnce(channel)));
        // Netty does that by a task of its own.
        Eventually.await(SECONDS * 1000, () -> channel + " is registered", () -> !channel.isRegistered());
        assertFalse(channel.isOver());
        client.letGo();
        Peers.await(connect);
        assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
        awaitOver(channel);
    }

    /** Nothing else keeps the loop: its channels are closed and deregistered. */
    @OnEachLane
    void theEndOfALoopWaitsForTheClient() throws Exception {
        Channel server = peers.listen(server(EarlyCloseTest::closeAtOnce));
        Holding client = new Holding();
        Diary diary = new Diary();
        ChannelFuture connect = connect(server, client, diary);
        UcxSocketChannel channel = awaitAccepted();
        Eventually.await(SECONDS * 1000, () -> channel + " is registered", () -> !channel.isRegistered());
        var ended = peers.serverGroup.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        assertFalse(ended.await(200));
        client.letGo();
        Peers.await(ended);
        assertTrue(channel.isOver());
        Peers.await(connect);
        assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
    }

    /** The same for one that is still open then. */
    @OnEachLane
    void aLoopThatEndsLetsAHandshakeComeToItsEnd() throws Exception {
        Channel server = peers.listen(server(channel -> { }));
        Holding client = new Holding();
        Diary diary = new Diary();
        ChannelFuture connect = connect(server, client, diary);
        UcxSocketChannel channel = awaitAccepted();
        var ended = peers.serverGroup.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        Peers.await(channel.closeFuture());
        client.letGo();
        Peers.await(ended);
        assertTrue(channel.isOver());
        Peers.await(connect);
        assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
    }

    // ------------------------------------------------------------------------------------------- no way to the memory

    /** As Netty's own filters have it: they close the channel when it is registered. */
    @OnEachLane(linksOnly = true)
    void whoIsFilteredOutGetsNoLink() throws Exception {
        IpFilterRule nobody = new IpSubnetFilterRule("127.0.0.0", 8, IpFilterRuleType.REJECT);
        Channel server = peers.listen(server(channel -> channel.pipeline().addLast(new RuleBasedIpFilter(nobody))));
        for (int round = 0; round < ROUNDS; round++) {
            Diary diary = new Diary();
            ChannelFuture connect = Peers.await(connect(server, diary));
            assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
            assertEquals("socket", ((UcxSocketChannel) connect.channel()).lane());
            awaitOver(awaitAccepted());
        }
        assertEquals(0, serverMetrics().handshakesFailed());
    }

    /** There is nothing left that both sides allow. */
    @OnEachLane(linksOnly = true)
    void whoDoesNotTakeTheSocketIsRefused() throws Exception {
        Channel server = peers.listen(server(EarlyCloseTest::closeAtOnce));
        HandshakeException failure = assertInstanceOf(HandshakeException.class,
                Peers.awaitFailure(connect(server, Lane.current().toString(), new Diary())));
        assertSame(HandshakeFailure.NO_COMMON_LANE, failure.reason());
        assertTrue(failure.getMessage().contains(Lane.current() + ": the server has closed the channel"),
                failure::getMessage);
        awaitOver(awaitAccepted());
    }

    /** It has been told which lane it could have had, and asks for a link. */
    @OnEachLane(linksOnly = true)
    void whoIsDeclinedWhenItHasBeenAnsweredGetsNoLinkEither() throws Exception {
        UcxServerSocketChannel server = peers.listen(server(channel -> { }));
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            client.beforeOffer(() -> closeOnItsLoop(accepted.peek()));
            HandshakeException failure = client.greetInVain();
            assertSame(HandshakeFailure.NO_COMMON_LANE, failure.reason());
            assertTrue(failure.getMessage().contains(Lane.current() + ": the server has closed the channel"),
                    failure::getMessage);
        }
        awaitOver(awaitAccepted());
    }

    private static void closeOnItsLoop(UcxSocketChannel channel) {
        try {
            Peers.await(channel.eventLoop().submit(() -> closeAtOnce(channel)));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ------------------------------------------------------------------------------------------- ordinary clients

    @OnEachLane(lanes = Lane.SOCKET)
    void anOrdinaryClientThatSpeaksSeesAnEnd() throws Exception {
        ordinaryClient(UcxPlainPeers.SPEAKING, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(Unpooled.copiedBuffer("GET /", StandardCharsets.US_ASCII));
                context.fireChannelActive();
            }
        });
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void soDoesOneThatSaysNothing() throws Exception {
        ordinaryClient(UcxPlainPeers.ALL, new ChannelInboundHandlerAdapter());
    }

    private void ordinaryClient(UcxPlainPeers served, ChannelHandler speaker) throws Exception {
        Channel server = peers.listen(server(EarlyCloseTest::closeAtOnce).childOption(UcxChannelOption.PLAIN_PEERS, served)
                .childOption(UcxChannelOption.PLAIN_GRACE_MILLIS, GRACE_MILLIS));
        EventLoopGroup group = new NioEventLoopGroup(1);
        try {
            Diary diary = new Diary();
            Peers.await(new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(speaker, diary);
                        }
                    }).connect(server.localAddress()));
            assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
            awaitOver(awaitAccepted());
            assertEquals(0, serverMetrics().handshakesFailed());
        } finally {
            Peers.await(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        }
    }

    // ------------------------------------------------------------------------------------------- somebody else

    @OnEachLane(lanes = Lane.SOCKET)
    void whoDoesNotEndItsHandshakeHasTheHandshakesTime() throws Exception {
        stall(server(EarlyCloseTest::closeAtOnce)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS), HandshakeFailure.TIMED_OUT);
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void andNotMoreThanTheClosesTime() throws Exception {
        stall(server(EarlyCloseTest::closeAtOnce)
                .childOption(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, TIMEOUT_MILLIS), HandshakeFailure.CANCELLED);
    }

    private void stall(ServerBootstrap server, HandshakeFailure reason) throws Exception {
        UcxServerSocketChannel port = peers.listen(server);
        long start = System.nanoTime();
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(port.localAddress());
            stranger.say(Arrays.copyOf(HandshakeBytes.hello("socket"), HandshakeBytes.HELLO_LENGTH / 2));
            UcxSocketChannel channel = awaitAccepted();
            stranger.awaitEnd();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis >= TIMEOUT_MILLIS - 10, () -> "over after " + millis + " ms");
            awaitOver(channel);
        }
        assertEquals(1, serverMetrics().handshakesFailed(reason));
        assertEquals(1, serverMetrics().handshakesFailed());
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void whoGoesInItsHandshakeLeavesNothing() throws Exception {
        UcxServerSocketChannel port = peers.listen(server(EarlyCloseTest::closeAtOnce));
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(port.localAddress());
            stranger.say(HandshakeBytes.hello("socket"));
            // It has got as far as that.
            assertEquals(HandshakeBytes.ANSWER_LENGTH, stranger.hear(HandshakeBytes.ANSWER_LENGTH).length);
        }
        awaitOver(awaitAccepted());
        assertEquals(1, serverMetrics().handshakesFailed(HandshakeFailure.CLOSED_BY_PEER));
        leaks.awaitNoBuffers();
    }

    // ------------------------------------------------------------------------------------------- something to wait for

    /** What was flushed cannot be sent before the handshake is over. */
    @OnEachLane
    void whatWasFlushedBeforeIsDelivered() throws Exception {
        List<ChannelFuture> writes = new CopyOnWriteArrayList<>();
        Channel server = peers.listen(server(channel -> {
            writes.add(channel.writeAndFlush(Unpooled.copiedBuffer("we are full", StandardCharsets.ISO_8859_1)));
            assertFalse(channel.close().isDone());
        }));
        Diary diary = new Diary();
        ChannelFuture connect = Peers.await(connect(server, diary));
        assertEquals(List.of("active", "we are full", "inactive"), diary.awaitEnd());
        assertEquals("socket", ((UcxSocketChannel) connect.channel()).lane());
        UcxSocketChannel channel = awaitAccepted();
        Peers.await(writes.getFirst());
        Peers.await(channel.closeFuture());
        awaitOver(channel);
    }

    /** With {@code SO_LINGER} an application wants to know whether the peer has everything. */
    @OnEachLane
    void withLingerACloseIsDoneWhenTheClientHasSeenIt() throws Exception {
        Channel server = peers.listen(server(channel -> assertFalse(channel.close().isDone()))
                .childOption(ChannelOption.SO_LINGER, SECONDS));
        Diary diary = new Diary();
        Peers.await(connect(server, diary));
        assertEquals(CONNECTED_AND_ENDED, diary.awaitEnd());
        UcxSocketChannel channel = awaitAccepted();
        Peers.await(channel.closeFuture());
        awaitOver(channel);
    }

    @OnEachLane
    void withoutLingerItIsAReset() throws Exception {
        Channel server = peers.listen(server(EarlyCloseTest::closeAtOnce).childOption(ChannelOption.SO_LINGER, 0));
        assertInstanceOf(IOException.class, Peers.awaitFailure(connect(server, new Diary())));
        assertTrue(awaitAccepted().isOver());
    }
}
