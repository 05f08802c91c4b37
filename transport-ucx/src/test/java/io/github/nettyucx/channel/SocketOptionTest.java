// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.SocketSetting;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.net.BindException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Options of a channel are those of its socket, as the kernel says. */
class SocketOptionTest {

    private static final int KIB = 1024;
    /** Small enough for every host's limit; the kernel doubles it. */
    private static final int BUFFER = 32 * KIB;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static int kernels(Channel channel, SocketSetting setting) throws Exception {
        SocketOptions options = channel instanceof UcxServerSocketChannel server ? server.config().socketOptions()
                : ((UcxSocketChannel) channel).config().socketOptions();
        return channel.eventLoop().submit(() -> options.socket().get(setting)).get(15, TimeUnit.SECONDS);
    }

    private static Bootstrap onSocket(Bootstrap client) {
        return client.option(UcxChannelOption.LANES, "socket");
    }

    private UcxServerSocketChannel listen() throws InterruptedException {
        return peers.listen(Inbox::new);
    }

    // ------------------------------------------------------------------------------------------- before the connect

    @Test
    void aClientsSocketHasWhatWasSetBefore() throws Exception {
        UcxSocketChannel channel = Peers.connect(onSocket(peers.client(new Inbox()))
                .option(ChannelOption.SO_RCVBUF, BUFFER).option(ChannelOption.SO_SNDBUF, BUFFER)
                .option(ChannelOption.TCP_NODELAY, false).option(ChannelOption.IP_TOS, 0x10)
                .option(ChannelOption.SO_REUSEADDR, true), listen());
        assertEquals("socket", channel.lane());
        assertOptions(channel);
    }

    @Test
    void anAcceptedSocketHasWhatWasSetForChildren() throws Exception {
        Inbox child = new Inbox();
        ServerBootstrap server = peers.server(() -> child)
                .childOption(ChannelOption.SO_RCVBUF, BUFFER).childOption(ChannelOption.SO_SNDBUF, BUFFER)
                .childOption(ChannelOption.TCP_NODELAY, false).childOption(ChannelOption.IP_TOS, 0x10)
                .childOption(ChannelOption.SO_REUSEADDR, true);
        Peers.connect(onSocket(peers.client(new Inbox())), peers.listen(server));
        assertOptions(child.awaitActive());
    }

    private static void assertOptions(UcxSocketChannel channel) throws Exception {
        assertEquals(2 * BUFFER, kernels(channel, SocketSetting.RECEIVE_BUFFER));
        assertEquals(2 * BUFFER, kernels(channel, SocketSetting.SEND_BUFFER));
        assertEquals(0, kernels(channel, SocketSetting.NO_DELAY));
        assertEquals(0x10, kernels(channel, SocketSetting.TRAFFIC_CLASS));
        assertEquals(1, kernels(channel, SocketSetting.REUSE_ADDRESS));
    }

    @Test
    void whatWasNotSetIsAsItIsWithNettysOtherTransports() throws Exception {
        UcxServerSocketChannel server = listen();
        UcxSocketChannel channel = Peers.connect(onSocket(peers.client(new Inbox())), server);
        assertEquals(1, kernels(channel, SocketSetting.NO_DELAY));
        assertEquals(0, kernels(channel, SocketSetting.TRAFFIC_CLASS));
        assertEquals(0, kernels(channel, SocketSetting.REUSE_ADDRESS));
        assertEquals(1, kernels(server, SocketSetting.REUSE_ADDRESS));
        assertEquals(0, kernels(server, SocketSetting.REUSE_PORT));
        // The kernel chooses the sizes of buffers as traffic goes; one that was set it leaves alone.
        assertTrue(kernels(channel, SocketSetting.SEND_BUFFER) != 2 * BUFFER);
    }

    // ------------------------------------------------------------------------------------------- afterwards

    @Test
    void whatIsSetWhileConnectedTakesEffect() throws Exception {
        UcxSocketChannel channel = Peers.connect(onSocket(peers.client(new Inbox())), listen());
        assertTrue(channel.config().setOption(ChannelOption.TCP_NODELAY, false));
        assertTrue(channel.config().setOption(ChannelOption.IP_TOS, 0x08));
        assertTrue(channel.config().setOption(ChannelOption.SO_SNDBUF, BUFFER));
        // By the loop, which does it before what it is told later.
        assertEquals(0, kernels(channel, SocketSetting.NO_DELAY));
        assertEquals(0x08, kernels(channel, SocketSetting.TRAFFIC_CLASS));
        assertEquals(2 * BUFFER, kernels(channel, SocketSetting.SEND_BUFFER));
        Peers.await(channel.close());
        channel.config().setOption(ChannelOption.TCP_NODELAY, true);
        assertEquals(true, channel.config().getOption(ChannelOption.TCP_NODELAY), "kept, and of no effect");
    }

    // ------------------------------------------------------------------------------------------- peers that are gone

    @Test
    void theKernelLooksAfterOrdinaryPeersWhereItIsTold() throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(Peers.loopback(0));
            for (boolean keepAlive : new boolean[] {true, false}) {
                UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                        .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.PLAIN)
                        .option(ChannelOption.SO_KEEPALIVE, keepAlive)
                        .connect(server.getLocalSocketAddress())).channel();
                assertEquals(keepAlive ? 1 : 0, kernels(channel, SocketSetting.KEEP_ALIVE));
                assertEquals(0, kernels(channel, SocketSetting.USER_TIMEOUT_MILLIS));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.github.nettyucx.channel.Lane#chosen")
    void theKernelAlwaysLooksAfterPeersOfOurs(Lane lane) throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(peers.server(() -> child)
                .childOption(UcxChannelOption.LANES, lane.toString()));
        UcxSocketChannel channel = Peers.connect(peers.client(new Inbox())
                .option(UcxChannelOption.LANES, lane.toString()), server);
        for (UcxSocketChannel side : List.of(channel, child.awaitActive())) {
            assertLooksAfterPeer(side, lane);
        }
    }

    private static void assertLooksAfterPeer(UcxSocketChannel side, Lane lane) throws Exception {
        assertEquals(1, kernels(side, SocketSetting.KEEP_ALIVE));
        assertEquals(10, kernels(side, SocketSetting.KEEP_IDLE_SECONDS));
        assertEquals(5, kernels(side, SocketSetting.KEEP_INTERVAL_SECONDS));
        assertEquals(4, kernels(side, SocketSetting.KEEP_COUNT));
        // Where the bytes go over it, it would also end a connection whose peer does not read.
        assertEquals(lane.isLink() ? 30_000 : 0, kernels(side, SocketSetting.USER_TIMEOUT_MILLIS));
    }

    @ParameterizedTest
    @MethodSource("io.github.nettyucx.channel.Lane#chosen")
    void noOptionKeepsTheKernelFromThat(Lane lane) throws Exception {
        Map<ChannelOption<?>, Object> options = Map.of(ChannelOption.SO_KEEPALIVE, false,
                ChannelOption.valueOf("TCP_KEEPIDLE"), 7200, ChannelOption.valueOf("TCP_KEEPINTVL"), 75,
                ChannelOption.valueOf("TCP_KEEPCNT"), 9, ChannelOption.valueOf("TCP_USER_TIMEOUT"), 1);
        Inbox child = new Inbox();
        ServerBootstrap bootstrap = peers.server(() -> child).childOption(UcxChannelOption.LANES, lane.toString());
        options.forEach((option, value) -> bootstrap.childOption(any(option), value));
        Bootstrap client = peers.client(new Inbox()).option(UcxChannelOption.LANES, lane.toString());
        options.forEach((option, value) -> client.option(any(option), value));
        UcxSocketChannel channel = Peers.connect(client, peers.listen(bootstrap));
        for (UcxSocketChannel side : List.of(channel, child.awaitActive())) {
            assertLooksAfterPeer(side, lane);
            // Both from another thread and from the loop's own.
            options.forEach((option, value) -> side.config().setOption(any(option), value));
            assertLooksAfterPeer(side, lane);
            side.eventLoop().submit(() -> options.forEach((option, value) -> side.config().setOption(any(option), value)))
                    .get(15, TimeUnit.SECONDS);
            assertLooksAfterPeer(side, lane);
            assertFalse(side.config().isKeepAlive(), "kept, and of no effect");
        }
    }

    @SuppressWarnings("unchecked")
    private static ChannelOption<Object> any(ChannelOption<?> option) {
        return (ChannelOption<Object>) option;
    }

    // ------------------------------------------------------------------------------------------- servers

    @Test
    void aServersSocketHasItsOptions() throws Exception {
        UcxServerSocketChannel server = peers.listen(peers.server(Inbox::new)
                .option(ChannelOption.SO_RCVBUF, BUFFER).option(ChannelOption.SO_REUSEADDR, false)
                .option(UcxChannelOption.SO_REUSEPORT, true));
        assertEquals(2 * BUFFER, kernels(server, SocketSetting.RECEIVE_BUFFER));
        assertEquals(0, kernels(server, SocketSetting.REUSE_ADDRESS));
        assertEquals(1, kernels(server, SocketSetting.REUSE_PORT));
    }

    @Test
    void serversShareAPortIfTheySaySo() throws Exception {
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        Channel one = bind(0, first);
        int port = ((UcxServerSocketChannel) one).localAddress().getPort();
        Channel two = bind(port, second);
        List<Socket> clients = new ArrayList<>();
        while (first.get() == 0 || second.get() == 0) {
            assertTrue(clients.size() < 200, "all 200 connections went to one of them");
            Socket client = new Socket("127.0.0.1", port);
            clients.add(client);
            client.getOutputStream().write('a');
            assertEquals('a', client.getInputStream().read());
        }
        for (Socket client : clients) {
            client.close();
        }
        // One goes, the other is there for all.
        Peers.await(one.close());
        int before = second.get();
        for (int i = 0; i < 10; i++) {
            UcxSocketChannel client = (UcxSocketChannel) Peers.await(
                    peers.client(new Inbox()).connect(Peers.loopback(port))).channel();
            Peers.await(client.close());
        }
        Eventually.await(15_000, () -> second.get() - before + " of 10", () -> second.get() == before + 10);
        // Its name is the other's now, for clients that look for one.
        Eventually.await(15_000, () -> "clients find no server of this transport", () -> {
            UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                    .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                    .connect(Peers.loopback(port))).channel();
            boolean found = !client.lane().equals("socket");
            Peers.await(client.close());
            return found;
        });
        Peers.await(two.close());
    }

    /** As with NIO: a client may come from the port that a server of its process listens at. */
    @Test
    void aClientSharesAPortIfItSaysSo() throws Exception {
        UcxServerSocketChannel shared = peers.listen(peers.server(Inbox::new).option(UcxChannelOption.SO_REUSEPORT, true));
        UcxServerSocketChannel server = listen();
        UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                .option(ChannelOption.SO_REUSEADDR, false)
                .option(NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT), true)
                .connect(server.localAddress(), shared.localAddress())).channel();
        assertEquals(shared.localAddress(), client.localAddress());
        assertEquals(true, client.config().getOption(NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT)));
        assertEquals(1, kernels(client, SocketSetting.REUSE_PORT));
        Peers.await(client.close());
    }

    private Channel bind(int port, AtomicInteger served) throws InterruptedException {
        return Peers.await(peers.server(() -> new Answering(served)).option(UcxChannelOption.SO_REUSEPORT, true)
                .bind(Peers.loopback(port))).channel();
    }

    private static final class Answering extends ChannelInboundHandlerAdapter {

        private final AtomicInteger served;

        Answering(AtomicInteger served) {
            this.served = served;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            served.incrementAndGet();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    @Test
    void aPortIsNotSharedWithOneThatDoesNotSaySo() throws Exception {
        UcxServerSocketChannel server = listen();
        ChannelFuture second = peers.server(Inbox::new).option(UcxChannelOption.SO_REUSEPORT, true)
                .bind(server.localAddress());
        assertInstanceOf(BindException.class, Peers.awaitFailure(second));
    }
}
