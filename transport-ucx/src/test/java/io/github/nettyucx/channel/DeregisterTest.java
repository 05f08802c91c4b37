// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A connection stays with its event loop; a channel that has none yet can go elsewhere. */
class DeregisterTest {

    private static final int MUCH = 32 * 1024 * 1024;
    private static final int WINDOW = 64 * 1024;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers(1, 2, UcxWaitStrategy.ADAPTIVE);
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static void assertRefused(ChannelFuture deregister, String expected) throws InterruptedException {
        Throwable failure = Peers.awaitFailure(deregister);
        assertInstanceOf(UnsupportedOperationException.class, failure);
        assertTrue(failure.getMessage().contains(expected), failure::toString);
    }

    @OnEachLane
    void aConnectedChannelRefusesAndGoesOn() throws Exception {
        Inbox child = new Inbox();
        Channel client = peers.connect(peers.listen(() -> child), new Inbox());
        assertRefused(client.deregister(), "a UCX connection cannot leave its event loop");
        assertTrue(client.isRegistered() && client.isActive());
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("still here", StandardCharsets.ISO_8859_1)));
        child.awaitText("still here");
        Peers.await(client.close());
    }

    /** As with Netty's own. */
    @OnEachLane(lanes = Lane.SHM)
    void aPromiseThatIsWrongIsTold() throws Exception {
        Channel client = peers.connect(peers.listen(Inbox::new), new Inbox());
        ChannelPromise cancelled = client.newPromise();
        assertTrue(cancelled.cancel(false));
        assertSame(cancelled, client.deregister(cancelled));
        ChannelPromise done = client.newPromise().setSuccess();
        assertThrows(IllegalArgumentException.class, () -> client.deregister(done));
        ChannelPromise another = peers.listen(Inbox::new).newPromise();
        assertThrows(IllegalArgumentException.class, () -> client.deregister(another));
        assertFalse(another.isDone());
        assertThrows(IllegalArgumentException.class, () -> client.deregister(client.voidPromise()));
        assertTrue(client.isActive());
    }

    @OnEachLane
    void aConnectedChannelThatIsDeregisteredByItsPipelineIsClosed() throws Exception {
        Inbox child = new Inbox();
        Inbox inbox = new Inbox();
        Channel client = peers.connect(peers.listen(() -> child), inbox);
        child.awaitActive();
        Peers.await(client.pipeline().deregister());
        Peers.await(client.closeFuture());
        inbox.awaitInactive();
        child.awaitInactive();
        assertFalse(client.isRegistered());
    }

    @OnEachLane
    void aChannelThatLingersIsClosedAtOnceByADeregistrationOfItsPipeline() throws Exception {
        CompletableFuture<Void> removed = new CompletableFuture<>();
        Inbox child = new Inbox();
        Inbox inbox = new Inbox() {
            @Override
            public void handlerRemoved(ChannelHandlerContext context) {
                removed.complete(null);
            }
        };
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW));
        Channel client = peers.connect(server, inbox);
        Channel accepted = child.awaitActive();
        // More than the window, and than a kernel's socket takes.
        ChannelFuture write = client.writeAndFlush(Unpooled.directBuffer().writeZero(MUCH));
        ChannelFuture close = client.close();
        Peers.await(client.eventLoop().submit(() -> { }));
        assertFalse(close.isDone());
        Peers.await(client.pipeline().deregister());
        assertTrue(close.isDone() && client.closeFuture().isDone());
        inbox.awaitInactive();
        removed.get(15, TimeUnit.SECONDS);
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write));
        assertFalse(client.isRegistered());
        accepted.config().setAutoRead(true);
        child.awaitInactive();
    }

    @OnEachLane
    void aBoundServerRefusesAndGoesOn() throws Exception {
        Channel server = peers.listen(Inbox::new);
        assertRefused(server.deregister(), "a listening socket cannot leave its event loop");
        Peers.await(peers.connect(server, new Inbox()).close());
        Peers.await(server.pipeline().deregister());
        Peers.await(server.closeFuture());
    }

    @OnEachLane
    void aChannelThatIsNotConnectedCanGoToAnotherLoop() throws Exception {
        Inbox child = new Inbox();
        InetSocketAddress server = peers.listen(() -> child).localAddress();
        Channel client = Peers.await(peers.client(new Inbox()).register()).channel();
        Object before = client.eventLoop();
        Peers.await(client.deregister());
        Peers.await(peers.clientGroup.register(client));
        assertNotSame(before, client.eventLoop());
        Peers.await(client.connect(server));
        Peers.await(client.close());
        child.awaitInactive();
        assertEquals("", child.text());
    }

    /** What a server or a connection has belongs to one loop: it must not be that of the loop before. */
    @OnEachLane
    void aChannelBetweenTwoLoopsCanNeitherListenNorConnect() throws Exception {
        EventLoopGroup before = TestLoops.newGroup(1, UcxWaitStrategy.ADAPTIVE);
        try {
            Inbox child = new Inbox();
            Channel server = Peers.await(new ServerBootstrap().group(before, peers.serverGroup)
                    .channel(UcxServerSocketChannel.class).childHandler(child).register()).channel();
            Peers.await(server.deregister());
            assertHasNoLoop(server.bind(Peers.loopback(0)));
            Peers.await(peers.serverGroup.register(server));
            Peers.await(server.bind(Peers.loopback(0)));

            Channel client = Peers.await(new Bootstrap().group(before).channel(UcxSocketChannel.class).handler(new Inbox())
                    .register()).channel();
            Peers.await(client.deregister());
            assertHasNoLoop(client.connect(server.localAddress()));
            Peers.await(peers.clientGroup.register(client));
            Peers.await(before.shutdownGracefully(0, 15, TimeUnit.SECONDS));
            Peers.await(client.connect(server.localAddress()));
            Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("from another loop", StandardCharsets.ISO_8859_1)));
            child.awaitText("from another loop");
            Peers.await(client.close());
        } finally {
            before.shutdownGracefully(0, 15, TimeUnit.SECONDS);
        }
    }

    private static void assertHasNoLoop(ChannelFuture future) throws InterruptedException {
        Throwable failure = Peers.awaitFailure(future);
        assertInstanceOf(IOException.class, failure);
        assertTrue(failure.getMessage().contains("the channel is registered with no event loop"), failure::toString);
        assertTrue(future.channel().isOpen());
    }
}
