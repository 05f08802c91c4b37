// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.SocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An accepted channel may end a direction before its handshake is over: the client sees what it would see of a socket. */
class EarlyHalfCloseTest {

    private static final int SECONDS = 15;

    private final CompletableFuture<List<ChannelFuture>> done = new CompletableFuture<>();
    private final Inbox child = new Inbox();
    private final Inbox inbox = new Inbox();
    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    /** A server whose child does this as soon as there is one. */
    private Channel listen(Function<SocketChannel, List<ChannelFuture>> first) throws InterruptedException {
        return listen(peers.server(() -> child), first);
    }

    private Channel listen(ServerBootstrap bootstrap, Function<SocketChannel, List<ChannelFuture>> first)
            throws InterruptedException {
        ServerBootstrap server = bootstrap.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(child);
                        done.complete(first.apply(channel));
                    }
                });
        return peers.listen(server);
    }

    private UcxSocketChannel connect(Channel server) throws InterruptedException {
        return connect(peers.client(inbox), server);
    }

    private static UcxSocketChannel connect(Bootstrap client, Channel server) throws InterruptedException {
        return Peers.connect(client.option(ChannelOption.ALLOW_HALF_CLOSURE, true), server);
    }

    private List<ChannelFuture> done() throws Exception {
        return done.get(SECONDS, TimeUnit.SECONDS);
    }

    @OnEachLane
    void theOutputEndsAfterWhatWasFlushed() throws Exception {
        Channel server = listen(channel -> List.of(channel.writeAndFlush(text("greeting")), channel.shutdownOutput(),
                channel.shutdownOutput(), channel.writeAndFlush(text("too late"))));
        UcxSocketChannel client = connect(server);
        inbox.awaitText("greeting");
        inbox.awaitInputShutdown();
        for (ChannelFuture future : done().subList(0, 3)) {
            Peers.await(future);
        }
        assertInstanceOf(ChannelOutputShutdownException.class, Peers.awaitFailure(done().getLast()));
        UcxSocketChannel accepted = child.awaitActive();
        assertTrue(accepted.isOutputShutdown() && accepted.isActive());
        assertFalse(accepted.isInputShutdown());
        // The other direction is as it was.
        Peers.await(client.writeAndFlush(text("question")));
        child.awaitText("question");
        Peers.await(client.close());
        child.awaitInputShutdown();
        assertEquals(List.of(), child.exceptions());
        assertEquals(List.of(), inbox.exceptions());
    }

    @OnEachLane
    void theOutputEndsWithoutAByte() throws Exception {
        Channel server = listen(channel -> List.of(channel.shutdownOutput()));
        UcxSocketChannel client = connect(server);
        inbox.awaitInputShutdown();
        Peers.await(done().getFirst());
        Peers.await(client.writeAndFlush(text("question")));
        child.awaitText("question");
    }

    @OnEachLane
    void theInputEndsAndTheOutputDoesNot() throws Exception {
        Channel server = listen(channel -> List.of(channel.shutdownInput(), channel.shutdownInput()));
        UcxSocketChannel client = connect(server);
        Peers.await(done().getFirst());
        Peers.await(done().getLast());
        UcxSocketChannel accepted = child.awaitActive();
        assertTrue(accepted.isInputShutdown() && accepted.isActive());
        assertFalse(accepted.isOutputShutdown());
        client.writeAndFlush(text("nobody reads this"));
        Peers.await(accepted.writeAndFlush(text("greeting")));
        inbox.awaitText("greeting");
        assertEquals("", child.text());
    }

    @OnEachLane
    void bothEnd() throws Exception {
        Channel server = listen(channel -> List.of(channel.writeAndFlush(text("greeting")), channel.shutdown()));
        connect(server);
        inbox.awaitText("greeting");
        inbox.awaitInputShutdown();
        Peers.await(done().getFirst());
        Peers.await(done().getLast());
        assertTrue(child.awaitActive().isShutdown());
    }

    @OnEachLane
    void aCloseDeliversWhatWasFlushed() throws Exception {
        // After an early close the connection takes the socket.
        String lanes = Lane.current().orSocket();
        Channel server = listen(peers.server(() -> child).childOption(UcxChannelOption.LANES, lanes),
                channel -> List.of(channel.writeAndFlush(text("greeting")), channel.shutdownOutput(), channel.close()));
        connect(peers.client(inbox).option(UcxChannelOption.LANES, lanes), server);
        inbox.awaitText("greeting");
        inbox.awaitInputShutdown();
        Peers.await(done().getFirst());
        assertTrue(done().get(1).await(SECONDS, TimeUnit.SECONDS), "for ever under way");
        Peers.await(done().getLast());
        assertEquals(List.of(), inbox.exceptions());
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void whoAsksAgainWhenACloseHasFailedBothIsAnswered() throws Exception {
        Channel server = listen(channel -> {
            ChannelPromise output = channel.newPromise();
            ChannelPromise input = channel.newPromise();
            channel.shutdownOutput().addListener(failed -> channel.shutdownOutput(output));
            channel.shutdownInput().addListener(failed -> channel.shutdownInput(input));
            channel.close();
            return List.of(output, input);
        });
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        try (Socket stranger = new Socket(address.getAddress(), address.getPort())) {
            assertTrue(stranger.isConnected());
            for (ChannelFuture future : done()) {
                assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(future));
            }
        }
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void whereThereIsNoConnectionBothFail() throws Exception {
        Channel server = listen(channel -> List.of(channel.shutdownOutput(), channel.shutdownInput()));
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        new Socket(address.getAddress(), address.getPort()).close();
        for (ChannelFuture future : done()) {
            assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(future));
        }
        child.awaitInactive();
    }
}
