// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Somebody connects and goes, or says something that is no handshake. With Netty's other transports the channel that the
 * server has accepted is active and then inactive, and so it is here, where there is no connection.
 */
class PassingChannelTest {

    private static final int SECONDS = 15;
    private static final int TIMEOUT_MILLIS = 100;
    private static final List<String> WHOLE_LIFE = List.of("registered", "active", "inactive", "unregistered");

    private final LeakWatch leaks = new LeakWatch();
    private final List<UcxSocketChannel> observed = new CopyOnWriteArrayList<>();
    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
        ConnectionObserver.install(new ConnectionObserver() {
            @Override
            public void opened(UcxSocketChannel channel, boolean accepted, List<String> reasons) {
                observed.add(channel);
            }

            @Override
            public void closed(UcxSocketChannel channel) {
                observed.add(channel);
            }
        });
    }

    @AfterEach
    void endLoops() {
        ConnectionMetrics.observer = null;
        peers.close();
        leaks.assertNothingLeft();
    }

    // ------------------------------------------------------------------------------------------- what is told

    /** Remembers what it is told, in order, and does what a test wants when its channel is active. */
    private static final class Life extends ChannelDuplexHandler {

        private final List<String> events = new CopyOnWriteArrayList<>();
        private final CompletableFuture<Channel> over = new CompletableFuture<>();
        private final Consumer<ChannelHandlerContext> whenActive;
        /** Whether it was open and active when it was told so. */
        private boolean wasActive;

        Life(Consumer<ChannelHandlerContext> whenActive) {
            this.whenActive = whenActive;
        }

        Life() {
            this(context -> { });
        }

        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            events.add("registered");
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            events.add("active");
            wasActive = context.channel().isActive() && context.channel().isOpen();
            whenActive.accept(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            events.add("read " + message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            events.add("caught " + cause.getMessage());
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            events.add("inactive");
            assertFalse(context.channel().isActive());
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            events.add("unregistered");
            over.complete(context.channel());
        }

        Channel awaitEnd() throws Exception {
            return over.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    private UcxServerSocketChannel listen(Life child, UcxPlainPeers plainPeers) throws InterruptedException {
        return peers.listen(server(child, plainPeers));
    }

    private ServerBootstrap server(Life child, UcxPlainPeers plainPeers) {
        return peers.server(() -> child).childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(UcxChannelOption.PLAIN_PEERS, plainPeers);
    }

    private static void comeAndGo(Channel server) throws IOException {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        new Socket(address.getAddress(), address.getPort()).close();
    }

    private void assertNoConnection(HandshakeFailure reason) {
        UcxMetrics metrics = TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
        assertEquals(1, metrics.handshakesFailed(reason));
        assertEquals(1, metrics.handshakesFailed());
        assertEquals(1, metrics.strangersTurnedAway());
        assertEquals(0, metrics.traffic().connectionsOpened());
        assertEquals(0, metrics.traffic().connections());
        assertTrue(metrics.lanes().isEmpty(), () -> metrics.lanes().toString());
        assertEquals(List.of(), observed);
    }

    @Test
    void soItIsWithNetty() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try {
            Life child = new Life();
            Channel server = Peers.await(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(child);
                        }
                    }).bind(Peers.loopback(0))).channel();
            comeAndGo(server);
            child.awaitEnd();
            assertEquals(WHOLE_LIFE, child.events);
        } finally {
            Peers.await(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void whoConnectsAndGoesIsActiveAndThenInactive() throws Exception {
        Life child = new Life();
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        UcxSocketChannel channel = (UcxSocketChannel) child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
        assertTrue(child.wasActive);
        assertFalse(channel.isOpen());
        assertTrue(channel.isOver());
        assertEquals("none", channel.lane());
        assertNoConnection(HandshakeFailure.CLOSED_BY_PEER);
    }

    /** Its loop cannot have what it needs, as when there is no descriptor left for it. */
    @Test
    void soIsWhoCannotBeServed() throws Exception {
        Life child = new Life();
        EventLoopGroup children = TestLoops.newGroup(1);
        try {
            EventLoop loop = TestLoops.first(children);
            Peers.await(loop.submit(() -> {
                TestLoops.driver(loop).destroy(0);
                return null;
            }));
            comeAndGo(peers.listen(new ServerBootstrap().group(peers.serverGroup, children)
                    .channel(UcxServerSocketChannel.class).childHandler(child)));
            child.awaitEnd();
            assertEquals(WHOLE_LIFE, child.events);
            UcxMetrics metrics = TestLoops.driver(loop).metrics();
            assertEquals(1, metrics.handshakesFailed(HandshakeFailure.LOCAL_FAILURE));
            assertEquals(1, metrics.handshakesFailed());
        } finally {
            Peers.await(children.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void soIsWhoSaysNothing() throws Exception {
        Life child = new Life();
        try (RawPeer silent = new RawPeer()) {
            silent.connect(peers.listen(server(child, UcxPlainPeers.SPEAKING)
                    .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS)).localAddress());
            silent.awaitEnd();
        }
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
        assertNoConnection(HandshakeFailure.TIMED_OUT);
    }

    /** Not a byte of it is read. */
    @Test
    void soIsWhoIsTurnedAway() throws Exception {
        Life child = new Life(ChannelHandlerContext::read);
        try (RawPeer ordinary = new RawPeer()) {
            ordinary.connect(listen(child, UcxPlainPeers.REFUSE).localAddress());
            ordinary.say("hello".getBytes(StandardCharsets.ISO_8859_1));
            ordinary.awaitEnd();
        }
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
        assertNoConnection(HandshakeFailure.PLAIN_REFUSED);
    }

    /** The client may have gone so early that the server cannot even look at its socket. */
    @Test
    void soIsASocketThatCannotBeUsed() throws Exception {
        Life child = new Life();
        KernelSocket gone = KernelSocket.stream(false);
        gone.close();
        UcxSocketChannel channel = new UcxSocketChannel(null, gone, Peers.loopback(1), Peers.loopback(2));
        channel.pipeline().addLast(child);
        CompletableFuture<ChannelFuture> write = new CompletableFuture<>();
        Peers.await(TestLoops.first(peers.serverGroup).submit(() -> {
            TestLoops.first(peers.serverGroup).register(channel);
            write.complete(channel.writeAndFlush(Unpooled.EMPTY_BUFFER));
        }));
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
        assertTrue(child.wasActive);
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write.get()));
    }

    // ------------------------------------------------------------------------------------------- what it can do

    /** In this order. */
    private List<Throwable> failuresOf(List<ChannelFuture> futures) throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        for (ChannelFuture future : futures) {
            failures.add(Peers.awaitFailure(future));
        }
        return failures;
    }

    @Test
    void whoWritesForAsLongAsHeMayComesToAnEnd() throws Exception {
        List<ChannelFuture> futures = new CopyOnWriteArrayList<>();
        Life child = new Life(context -> {
            while (context.channel().isActive() && context.channel().isWritable()) {
                assertTrue(futures.size() < 100, "it goes on and on");
                futures.add(context.writeAndFlush(leaks.allocator.buffer().writeZero(1024)));
            }
        });
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
        for (Throwable failure : failuresOf(futures)) {
            assertInstanceOf(ClosedChannelException.class, failure);
        }
    }

    @Test
    void whatItWritesFails() throws Exception {
        List<ChannelFuture> futures = new CopyOnWriteArrayList<>();
        Life child = new Life(context -> {
            SocketChannel channel = (SocketChannel) context.channel();
            futures.add(channel.writeAndFlush(leaks.allocator.buffer().writeInt(1)));
            assertTrue(channel.isActive(), channel::toString);
            futures.add(channel.write(leaks.allocator.buffer().writeInt(2)));
            futures.add(channel.shutdownInput());
            futures.add(channel.shutdownOutput());
            futures.add(channel.writeAndFlush(leaks.allocator.buffer().writeInt(3)));
        });
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
        assertEquals(5, futures.size());
        for (Throwable failure : failuresOf(futures)) {
            assertInstanceOf(IOException.class, failure);
        }
        assertEquals(2, Stream.of(2, 3).map(futures::get)
                .filter(future -> future.cause() instanceof ClosedChannelException).count(), futures::toString);
    }

    @Test
    void whatWasFlushedBeforeFails() throws Exception {
        CompletableFuture<ChannelFuture> write = new CompletableFuture<>();
        Life child = new Life();
        UcxServerSocketChannel server = peers.listen(peers.server(() -> child)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(child);
                        write.complete(channel.writeAndFlush(leaks.allocator.buffer().writeInt(1)));
                    }
                }));
        comeAndGo(server);
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write.get(SECONDS, TimeUnit.SECONDS)));
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
    }

    @Test
    void itCanBeClosedAtOnce() throws Exception {
        Life child = new Life(context -> {
            assertTrue(context.close().isSuccess());
            assertFalse(context.channel().isOpen());
        });
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        child.awaitEnd();
        assertEquals(WHOLE_LIFE, child.events);
    }

    @Test
    void aHandlerThatThrowsIsToldSo() throws Exception {
        Life child = new Life(context -> {
            throw new IllegalStateException("as the test wants it");
        });
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        child.awaitEnd();
        assertEquals(List.of("registered", "active", "caught as the test wants it", "inactive", "unregistered"),
                child.events);
    }

    @Test
    void itStaysWithItsLoopAndIsConnectedToNobody() throws Exception {
        List<ChannelFuture> futures = new CopyOnWriteArrayList<>();
        Life child = new Life(context -> {
            futures.add(context.channel().deregister());
            futures.add(context.channel().connect(Peers.loopback(1)));
        });
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        child.awaitEnd();
        List<Throwable> failures = failuresOf(futures);
        assertInstanceOf(UnsupportedOperationException.class, failures.getFirst());
        assertInstanceOf(AlreadyConnectedException.class, failures.getLast());
        assertEquals(WHOLE_LIFE, child.events);
    }

    /** It has no part in its channel any more, and so need not be told of the end. */
    @Test
    void aHandlerThatDeregistersItDoesNotKeepIt() throws Exception {
        CompletableFuture<ChannelFuture> deregistered = new CompletableFuture<>();
        Life child = new Life(context -> deregistered.complete(context.deregister()));
        comeAndGo(listen(child, UcxPlainPeers.SPEAKING));
        UcxSocketChannel channel = (UcxSocketChannel) child.awaitEnd();
        Peers.await(deregistered.get());
        assertTrue(channel.isOver());
        assertEquals(List.of("registered", "active"), child.events.subList(0, 2));
    }

    private static final List<String> CLOSED_EARLY = List.of("registered", "inactive", "unregistered");

    /** A child that writes, or does not, and closes itself before it can be active. */
    private static ChannelInitializer<SocketChannel> closing(Life child, boolean withBytes) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(child);
                if (withBytes) {
                    channel.writeAndFlush(Unpooled.copyInt(1));
                }
                channel.close();
            }
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneThatWasClosedBeforeIsNotActiveAndTellsOfItsEnd(boolean withBytes) throws Exception {
        Life child = new Life();
        comeAndGo(peers.listen(peers.server(() -> child).childHandler(closing(child, withBytes))));
        UcxSocketChannel channel = (UcxSocketChannel) child.awaitEnd();
        Eventually.await(SECONDS * 1000, channel::toString, channel::isOver);
        assertEquals(CLOSED_EARLY, child.events);
    }

    /** With the handshake of a client that does not go. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void soItIsIfTheHandshakeSucceedsAfterwards(boolean withBytes) throws Exception {
        Life child = new Life();
        UcxServerSocketChannel server = peers.listen(peers.server(() -> child).childHandler(closing(child, withBytes)));
        Peers.await(peers.connect(server, new Inbox()).closeFuture());
        child.awaitEnd();
        assertEquals(CLOSED_EARLY, child.events);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void soItIsWithNettyIfItIsClosedBefore(boolean withBytes) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try {
            Life child = new Life();
            comeAndGo(Peers.await(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(closing(child, withBytes)).bind(Peers.loopback(0))).channel());
            child.awaitEnd();
            assertEquals(CLOSED_EARLY, child.events);
        } finally {
            Peers.await(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        }
    }
}
