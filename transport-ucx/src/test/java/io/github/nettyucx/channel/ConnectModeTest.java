// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.Announcement;
import io.github.nettyucx.worker.UcxRuntime;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** A client that is told, or finds out, whether the server takes this transport. */
class ConnectModeTest {

    /** An answer may take three seconds. */
    private static final int LATER_THAN_AN_ANSWER_MILLIS = 3500;
    /** A server waits 200 ms for a client that may be one of this transport. */
    private static final int LATE_MILLIS = 500;
    private static final int LOADING_MILLIS = 3000;
    private static final int MILLIS = (int) TimeUnit.SECONDS.toMillis(15);

    private final Inbox inbox = new Inbox();
    private static final List<ServerSocket> SILENT = new ArrayList<>();

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** It is known for a while not to answer: until then no other server is to have its port. */
    private static ServerSocket remembered(ServerSocket silent) {
        SILENT.add(silent);
        return silent;
    }

    @AfterAll
    static void forget() throws IOException {
        for (ServerSocket silent : SILENT) {
            silent.close();
        }
    }

    private Bootstrap client(UcxConnectMode mode) {
        return peers.client(inbox).option(UcxChannelOption.CONNECT_MODE, mode);
    }

    private static ServerSocket ordinary(InetSocketAddress address) throws IOException {
        ServerSocket server = new ServerSocket();
        server.setReuseAddress(true);
        server.bind(address);
        server.setSoTimeout(MILLIS);
        return server;
    }

    /** The server's bytes are those of the application, from the first to the last. */
    private void assertPlain(UcxConnectMode mode, ServerSocket server) throws Exception {
        assertPlain(mode, server, (InetSocketAddress) server.getLocalSocketAddress());
    }

    private void assertPlain(UcxConnectMode mode, ServerSocket server, InetSocketAddress address) throws Exception {
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(client(mode).connect(address)).channel();
        assertEquals("socket", channel.lane());
        assertTrue(channel.isActive());
        try (Socket accepted = server.accept()) {
            accepted.setSoTimeout(MILLIS);
            accepted.getOutputStream().write("220 ready".getBytes(StandardCharsets.ISO_8859_1));
            inbox.awaitText("220 ready");
            Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.ISO_8859_1)));
            Peers.await(channel.close());
            assertEquals("hello", new String(accepted.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1));
        }
    }

    private void assertOverMemory(UcxConnectMode mode, InetSocketAddress address) throws Exception {
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                .option(UcxChannelOption.CONNECT_MODE, mode).connect(address)).channel();
        assertTrue(Lane.SHM.has(channel.lane()), () -> channel.lane() + " to " + address);
        Peers.await(channel.close());
    }

    // ------------------------------------------------------------------------------------------- plain

    @ParameterizedTest
    @EnumSource(names = "UCX", mode = EnumSource.Mode.EXCLUDE)
    void anOrdinaryServerHearsOnlyTheApplication(UcxConnectMode mode) throws Exception {
        try (ServerSocket server = ordinary(Peers.loopback(0))) {
            assertPlain(mode, server);
        }
    }

    @Test
    void aClientThatIsToldToIsPlainAtAServerOfOurs() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(() -> child);
        UcxSocketChannel channel = Peers.connect(client(UcxConnectMode.PLAIN), server);
        assertEquals("socket", channel.lane());
        assertFalse(child.isActive(), "it has not spoken");
        Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.ISO_8859_1)));
        child.awaitText("hello");
        assertEquals("socket", child.awaitActive().lane());
    }

    /** What was written before the connect had succeeded comes out behind it. */
    @Test
    void whatIsFlushedEarlyIsTheFirstThatAnOrdinaryServerHears() throws Exception {
        try (ServerSocket server = ordinary(Peers.loopback(0))) {
            Channel channel = Peers.await(client(UcxConnectMode.PLAIN).register()).channel();
            channel.connect(server.getLocalSocketAddress());
            channel.writeAndFlush(Unpooled.copiedBuffer("early", StandardCharsets.ISO_8859_1));
            try (Socket accepted = server.accept()) {
                accepted.setSoTimeout(MILLIS);
                assertEquals("early",
                        new String(accepted.getInputStream().readNBytes(5), StandardCharsets.ISO_8859_1));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "UCX", mode = EnumSource.Mode.EXCLUDE)
    void aRefusedConnectFailsAsEver(UcxConnectMode mode) throws Exception {
        // Bound: nobody else can get the port meanwhile.
        try (Socket nobody = new Socket()) {
            nobody.bind(Peers.loopback(0));
            String message = Peers.awaitFailure(client(mode).connect(nobody.getLocalSocketAddress())).getMessage();
            assertTrue(message.startsWith("Connection refused"), message);
        }
    }

    // ------------------------------------------------------------------------------------------- announced

    @Test
    void aServerThatHasAnnouncedItselfIsTakenAtItsWord() throws Exception {
        UcxServerSocketChannel server = peers.listen(Inbox::new);
        assertOverMemory(UcxConnectMode.ANNOUNCED, server.localAddress());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::"})
    void aServerOnAllAddressesIsAnnouncedOnEach(String wildcard) throws Exception {
        assumeTrue(hasIpv6() || !wildcard.equals("::"), "the host has no IPv6");
        UcxServerSocketChannel server = (UcxServerSocketChannel) Peers.await(peers.server(Inbox::new)
                .bind(new InetSocketAddress(InetAddress.ofLiteral(wildcard), 0))).channel();
        int port = server.localAddress().getPort();
        assertOverMemory(UcxConnectMode.ANNOUNCED, Peers.loopback(port));
        assertOverMemory(UcxConnectMode.ANNOUNCED, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.5"), port));
        if (hasIpv6()) {
            assertOverMemory(UcxConnectMode.ANNOUNCED, new InetSocketAddress(InetAddress.ofLiteral("::1"), port));
        }
        for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress address : Collections.list(each.getInetAddresses())) {
                if (address.getAddress().length == 4) {
                    assertOverMemory(UcxConnectMode.ANNOUNCED, new InetSocketAddress(address, port));
                }
            }
        }
    }

    private static boolean hasIpv6() {
        try {
            new ServerSocket(0, 1, InetAddress.ofLiteral("::1")).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void anOrdinaryServerOnTheSamePortOfAnotherAddressIsNotMeant() throws Exception {
        UcxServerSocketChannel ours = peers.listen(Inbox::new);
        InetSocketAddress other =
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), ours.localAddress().getPort());
        try (ServerSocket server = ordinary(other)) {
            assertPlain(UcxConnectMode.ANNOUNCED, server);
        }
        assertOverMemory(UcxConnectMode.ANNOUNCED, ours.localAddress());
    }

    @Test
    void anOrdinaryServerThatFollowsOneOfOursIsNotTakenForIt() throws Exception {
        UcxServerSocketChannel ours = peers.listen(Inbox::new);
        InetSocketAddress address = ours.localAddress();
        Peers.await(ours.close());
        try (ServerSocket server = ordinary(address)) {
            assertPlain(UcxConnectMode.ANNOUNCED, server);
        }
    }

    @Test
    void oneOfOursThatFollowsAnOrdinaryServerIsFound() throws Exception {
        InetSocketAddress address;
        try (ServerSocket server = ordinary(Peers.loopback(0))) {
            assertPlain(UcxConnectMode.ANNOUNCED, server);
            address = (InetSocketAddress) server.getLocalSocketAddress();
        }
        Peers.await(peers.server(Inbox::new).bind(address));
        assertOverMemory(UcxConnectMode.ANNOUNCED, address);
    }

    // ------------------------------------------------------------------------------------------- announced, and silent

    /** What an ordinary server does whose address another process has announced, when it sees a handshake. */
    private enum Stranger {
        CLOSES, ANSWERS_OTHERWISE, SAYS_NOTHING
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatDoesNotAnswerAsOursIsConnectedToAsAnOrdinaryOne(Stranger stranger) throws Exception {
        ServerSocket server = remembered(ordinary(Peers.loopback(0)));
        try (Announcement forged = Announcement.open((InetSocketAddress) server.getLocalSocketAddress())) {
            assertNotNull(forged);
            var attempt = CompletableFuture.supplyAsync(() -> seeHandshake(server, stranger));
            Bootstrap client = peers.client(new Inbox())
                    .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 2000);
            UcxSocketChannel channel = (UcxSocketChannel) Peers.await(client.connect(server.getLocalSocketAddress()))
                    .channel();
            attempt.get(15, TimeUnit.SECONDS).close();
            assertEquals("socket", channel.lane());
            Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.ISO_8859_1)));
            Peers.await(channel.close());
            assertEquals("hello", nextOrdinaryText(server));
            // Nobody asks again so soon: the first bytes are the application's.
            assertPlain(UcxConnectMode.ANNOUNCED, server);
        }
    }

    /** What the next ordinary client has said. One that had no processor for 200 ms has asked once more before. */
    private static String nextOrdinaryText(ServerSocket server) throws IOException {
        while (true) {
            try (Socket accepted = server.accept()) {
                String text = new String(accepted.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                if (!text.startsWith("NettyUCX")) {
                    return text;
                }
            } catch (SocketException e) {
                // The handshake was given up before it was read.
            }
        }
    }

    /** Its loop had other things to do, and the server took it for an ordinary client meanwhile. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatWasTooLateForTheServerBeginsOnceMore(boolean serverSpeaksFirst) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Channel server = peers.listen(peers.server(() -> new Inbox() {
            @Override
            public void handlerAdded(ChannelHandlerContext context) {
                if (attempts.getAndIncrement() > 0) {
                    // The machine may make it late as well.
                    context.channel().config().setOption(UcxChannelOption.PLAIN_GRACE_MILLIS, MILLIS);
                }
            }

            @Override
            public void channelActive(ChannelHandlerContext context) throws Exception {
                if (serverSpeaksFirst) {
                    context.writeAndFlush(Unpooled.copiedBuffer("220 ready", StandardCharsets.ISO_8859_1));
                }
                super.channelActive(context);
            }
        }).option(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.NEIGHBOURS));
        UcxSocketChannel channel = connectLate(server.localAddress());
        assertTrue(Lane.SHM.has(channel.lane()), channel::lane);
        if (serverSpeaksFirst) {
            inbox.awaitText("220 ready");
        }
        assertEquals(List.of(), inbox.exceptions());
        // Nor does the process take the server for an ordinary one.
        assertOverMemory(UcxConnectMode.ANNOUNCED, (InetSocketAddress) server.localAddress());
    }

    /** It cannot tell a server that did not wait from one that closes each connection that begins with a handshake. */
    @Test
    void aClientThatWasTooLateBeginsNoMoreThanOnceMore() throws Exception {
        ServerSocket server = remembered(ordinary(Peers.loopback(0)));
        try (Announcement forged = Announcement.open((InetSocketAddress) server.getLocalSocketAddress())) {
            assertNotNull(forged);
            var attempts = CompletableFuture.runAsync(() -> {
                seeHandshake(server, Stranger.CLOSES);
                seeHandshake(server, Stranger.CLOSES);
            });
            UcxSocketChannel channel = connectLate(server.getLocalSocketAddress());
            assertEquals("socket", channel.lane());
            attempts.get(MILLIS, TimeUnit.MILLISECONDS);
            Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.ISO_8859_1)));
            Peers.await(channel.close());
            try (Socket accepted = server.accept()) {
                assertEquals("hello",
                        new String(accepted.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1));
            }
        }
    }

    /** The kernel connects, and the server waits, while the client's loop does other things. */
    private UcxSocketChannel connectLate(SocketAddress server) throws Exception {
        Channel channel = Peers.await(client(UcxConnectMode.ANNOUNCED).register()).channel();
        ChannelFuture connected = channel.eventLoop().submit(() -> {
            ChannelFuture connect = channel.connect(server);
            // What it does.
            Thread.sleep(LATE_MILLIS);
            return connect;
        }).get(MILLIS, TimeUnit.MILLISECONDS);
        return (UcxSocketChannel) Peers.await(connected).channel();
    }

    /** It has said who it is; that the rest takes it longer than an answer may is no reason to take it for another. */
    /** To load UCX takes its time, when a process first connects. The server does not wait for that. */
    @Test
    void theTimeToConnectInBeginsWithTheConnect() throws Exception {
        UcxServerSocketChannel server = peers.listen(Inbox::new);
        var held = new CountDownLatch(1);
        Thread loading = Thread.ofPlatform().start(() -> {
            synchronized (UcxRuntime.class) {
                held.countDown();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOADING_MILLIS));
            }
        });
        held.await();
        UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(inbox)
                .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, LOADING_MILLIS * 2 / 3)
                .connect(server.localAddress())).channel();
        assertNotEquals("socket", client.lane());
        loading.join();
        Peers.await(client.close());
    }

    @Test
    void aServerThatHasAnsweredAsOursIsNotTakenForAnOrdinaryOne() throws Exception {
        UcxServerSocketChannel real = peers.listen(
                peers.server(Inbox::new).childOption(UcxChannelOption.TRANSLATED_ADDRESSES, true));
        try (ServerSocket between = ordinary(Peers.loopback(0));
                Announcement forged = Announcement.open((InetSocketAddress) between.getLocalSocketAddress())) {
            assertNotNull(forged);
            var passed = CompletableFuture.runAsync(() -> passOnSlowly(between, real.localAddress()));
            UcxSocketChannel channel = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                    .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                    .option(UcxChannelOption.TRANSLATED_ADDRESSES, true)
                    .connect(between.getLocalSocketAddress())).channel();
            assertTrue(Lane.SHM.has(channel.lane()), channel::lane);
            Peers.await(channel.close());
            passed.get(MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** All but the server's first frame comes later than an answer may. */
    private static void passOnSlowly(ServerSocket between, InetSocketAddress server) {
        try (Socket client = between.accept(); Socket upstream = new Socket(server.getAddress(), server.getPort())) {
            Thread sent = Thread.ofPlatform().start(() -> {
                try {
                    client.getInputStream().transferTo(upstream.getOutputStream());
                    upstream.shutdownOutput();
                } catch (IOException e) {
                    // The other side has ended.
                }
            });
            byte[] part = new byte[4096];
            int length = upstream.getInputStream().read(part);
            client.getOutputStream().write(part, 0, length);
            // That time passes in the middle of the handshake is what is tested.
            Thread.sleep(LATER_THAN_AN_ANSWER_MILLIS);
            upstream.getInputStream().transferTo(client.getOutputStream());
            client.shutdownOutput();
            sent.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Socket seeHandshake(ServerSocket server, Stranger stranger) {
        try {
            Socket accepted = server.accept();
            byte[] first = accepted.getInputStream().readNBytes(8);
            assertEquals(8, first.length);
            switch (stranger) {
                case CLOSES -> accepted.close();
                case ANSWERS_OTHERWISE -> accepted.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n"
                        .getBytes(StandardCharsets.ISO_8859_1));
                default -> {
                }
            }
            return accepted;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The second attempt comes from the address that the application has chosen. */
    @Test
    void aBoundClientStaysBound() throws Exception {
        ServerSocket server = remembered(ordinary(Peers.loopback(0)));
        try (Announcement forged = Announcement.open((InetSocketAddress) server.getLocalSocketAddress())) {
            assertNotNull(forged);
            int port = freePort();
            var attempt = CompletableFuture.supplyAsync(() -> seeHandshake(server, Stranger.CLOSES));
            Channel channel = Peers.await(client(UcxConnectMode.ANNOUNCED)
                    .connect(server.getLocalSocketAddress(), Peers.loopback(port))).channel();
            assertEquals(port, attempt.get(15, TimeUnit.SECONDS).getPort());
            try (Socket accepted = server.accept()) {
                assertEquals(port, accepted.getPort());
                assertEquals(port, ((InetSocketAddress) channel.localAddress()).getPort());
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = ordinary(Peers.loopback(0))) {
            return probe.getLocalPort();
        }
    }

    /** Who closes the channel while the server is asked has given it up, and no other attempt is made. */
    @Test
    void aConnectThatIsGivenUpIsNotMadeAgain() throws Exception {
        try (ServerSocket server = ordinary(Peers.loopback(0));
                Announcement forged = Announcement.open((InetSocketAddress) server.getLocalSocketAddress())) {
            assertNotNull(forged);
            Channel channel = Peers.await(client(UcxConnectMode.ANNOUNCED).register()).channel();
            ChannelFuture connect = channel.connect(server.getLocalSocketAddress());
            CompletableFuture<Socket> asked = new CompletableFuture<>();
            channel.eventLoop().execute(() -> closeWhenAsked(channel, server, null, asked));
            try (Socket accepted = asked.get(MILLIS, TimeUnit.MILLISECONDS)) {
                Peers.await(channel.closeFuture());
                Peers.awaitFailure(connect);
                accepted.setSoTimeout(MILLIS);
                accepted.getInputStream().readAllBytes();
            }
            server.setSoTimeout(500);
            assertThrows(SocketTimeoutException.class, server::accept);
        }
    }

    /** By the client's own loop, so that it cannot find the time for an answer over before. */
    private static void closeWhenAsked(Channel channel, ServerSocket server, Socket known, CompletableFuture<Socket> asked) {
        try {
            // The kernel has taken the connect.
            Socket accepted = known == null ? server.accept() : known;
            if (accepted.getInputStream().available() >= 8) {
                channel.close();
                asked.complete(accepted);
            } else {
                channel.eventLoop().execute(() -> closeWhenAsked(channel, server, accepted, asked));
            }
        } catch (IOException e) {
            asked.completeExceptionally(e);
        }
    }
}
