// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.ProtocolException;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Peers that are not of this transport, or of another release of it, are told from ours, and do no harm. */
@Tag("ucx-matrix")
@Timeout(60)
class ForeignPeerTest {

    private static final long MAGIC = 0x4e65747479554358L;
    private static final int HELLO_LENGTH = 64;
    private static final byte[] HTTP =
            "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final int MIB = 1024 * 1024;
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 500;
    private static final int SOCKETS = 50;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    // ------------------------------------------------------------------------------------------- HELLOs

    private static byte[] hello(long magic, int version, int ucxVersion, int channelId, int window, int maxMessage) {
        return ByteBuffer.allocate(HELLO_LENGTH).putLong(magic).putShort((short) version)
                .putShort((short) HELLO_LENGTH).putInt(ucxVersion).putInt(channelId).putInt(window)
                .putInt(maxMessage).array();
    }

    /** HELLOs that must not be taken → what is said of them. */
    private static Map<String, byte[]> badHellos() {
        int ucx = Ucx.packedVersion();
        Map<String, byte[]> bad = new LinkedHashMap<>();
        bad.put("the peer speaks version 2 of the Netty UCX protocol, this side version 1",
                hello(MAGIC, 2, ucx, 1, MIB, MIB / 4));
        bad.put("the peer runs UCX 9.9.0, this side UCX " + Ucx.version(),
                hello(MAGIC, 1, 9 << 24 | 9 << 16, 1, MIB, MIB / 4));
        bad.put("the peer announced impossible limits", hello(MAGIC, 1, ucx, 1, 1, 1));
        bad.put("window=" + MIB + ", maxMessage=" + 2 * MIB, hello(MAGIC, 1, ucx, 1, MIB, 2 * MIB));
        bad.put("channelId=0", hello(MAGIC, 1, ucx, 0, MIB, MIB / 4));
        bad.put("not the magic number of the Netty UCX protocol", hello(MAGIC + 1, 1, ucx, 1, MIB, MIB / 4));
        bad.put("0x474554202f204854", Arrays.copyOf(HTTP, HELLO_LENGTH));
        return bad;
    }

    @OnEachLane
    void aServersBadHelloFailsTheConnectWithItsReason() throws Exception {
        for (Map.Entry<String, byte[]> bad : badHellos().entrySet()) {
            try (RawPeer server = new RawPeer()) {
                InetSocketAddress address = server.listen();
                Inbox client = new Inbox();
                ChannelFuture connect = peers.client(client).connect(address);
                server.accept();
                server.say(bad.getValue());
                server.until(connect::isDone, "connect neither fails nor succeeds after " + bad.getKey());
                Throwable failure = Peers.awaitFailure(connect);
                assertSays(bad.getKey(), failure);
                assertSays("127.0.0.1:" + address.getPort(), failure);
                server.awaitEnd();
                Peers.await(connect.channel().closeFuture());
            }
        }
    }

    private static void assertSays(String expected, Throwable failure) {
        assertInstanceOf(ProtocolException.class, failure);
        assertTrue(failure.getMessage().contains(expected), failure::toString);
    }

    @OnEachLane
    void aClientsBadHelloClosesItsChildBeforeItIsActive() throws Exception {
        Children children = new Children();
        Channel server = peers.listen(() -> children.new Child());
        int count = 0;
        for (Map.Entry<String, byte[]> bad : badHellos().entrySet()) {
            try (RawPeer client = new RawPeer()) {
                client.connect((InetSocketAddress) server.localAddress());
                client.say(bad.getValue());
                client.awaitEnd();
            }
            count++;
            assertEquals(0, children.active.get(), bad::getKey);
        }
        assertServes(server);
        assertEquals(count + 1, children.registered.get());
        assertEquals(1, children.active.get());
    }

    @OnEachLane
    void aClientWithoutAHelloIsClosedInTime() throws Exception {
        Children children = new Children();
        Channel server = peers.listen(peers.server(() -> children.new Child())
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS));
        assertServes(server);
        try (RawPeer client = new RawPeer()) {
            long start = System.nanoTime();
            client.connect((InetSocketAddress) server.localAddress());
            client.awaitEnd();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis >= HANDSHAKE_TIMEOUT_MILLIS - 50 && millis < HANDSHAKE_TIMEOUT_MILLIS + 2000,
                    () -> "closed after " + millis + " ms");
        }
        assertServes(server);
        assertEquals(2, children.active.get());
    }

    @OnEachLane
    void halfAHelloIsNone() throws Exception {
        Children children = new Children();
        Channel server = peers.listen(peers.server(() -> children.new Child())
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS));
        try (RawPeer client = new RawPeer()) {
            client.connect((InetSocketAddress) server.localAddress());
            client.say(ByteBuffer.allocate(HELLO_LENGTH / 2).putLong(MAGIC).array());
            client.awaitEnd();
        }
        assertEquals(0, children.active.get());
        assertServes(server);
    }

    /** Counts a server's children. */
    private static final class Children {

        final AtomicInteger registered = new AtomicInteger();
        final AtomicInteger active = new AtomicInteger();

        final class Child extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                registered.incrementAndGet();
            }

            @Override
            public void channelActive(ChannelHandlerContext context) {
                active.incrementAndGet();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- sockets

    @OnEachLane
    void socketsThatSayNothingDoNoHarm() throws Exception {
        assertWithstands(new byte[0][]);
    }

    @OnEachLane
    void socketsThatSpeakHttpDoNoHarm() throws Exception {
        assertWithstands(HTTP);
    }

    @OnEachLane
    void socketsThatSpeakNonsenseDoNoHarm() throws Exception {
        SplittableRandom random = new SplittableRandom(4711);
        byte[][] nonsense = new byte[SOCKETS][64];
        for (byte[] bytes : nonsense) {
            random.nextBytes(bytes);
        }
        assertWithstands(nonsense);
    }

    @OnEachLane
    void aStrangerFromThePortOfAClientThatHasGoneIsTurnedAway() throws Exception {
        BlockingQueue<Inbox> accepted = new LinkedBlockingQueue<>();
        Channel server = peers.listen(peers.server(() -> {
            Inbox child = new Inbox();
            accepted.add(child);
            return child;
        }).option(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, 2 * HANDSHAKE_TIMEOUT_MILLIS));
        try (Socket stranger = connectFromAClientsPort(server, accepted)) {
            stranger.setSoTimeout(10_000);
            SocketException reset = assertThrows(SocketException.class, () -> stranger.getInputStream().read());
            assertTrue(reset.getMessage().contains("reset"), reset::toString);
        }
    }

    /** The kernel keeps the port for a minute if the client's socket was closed first, which is left to chance. */
    private Socket connectFromAClientsPort(Channel server, BlockingQueue<Inbox> accepted) throws Exception {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        for (int attempt = 0; attempt < 50; attempt++) {
            UcxSocketChannel client = peers.connect(server, new Inbox());
            int port = client.localAddress().getPort();
            UcxSocketChannel child = accepted.take().awaitActive();
            child.config().setSoLinger(0);
            Peers.await(child.close());
            Peers.await(client.closeFuture());
            Socket socket = new Socket();
            try {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(address.getAddress(), port));
                socket.connect(address);
                return socket;
            } catch (BindException e) {
                socket.close();
            }
        }
        throw new AssertionError("no port of a client's is free again");
    }

    /** Sockets that say these things, one after the other, and stay until a client of ours has been served. */
    private void assertWithstands(byte[]... sayings) throws Exception {
        Children children = new Children();
        Channel server = peers.listen(() -> children.new Child());
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        Socket[] sockets = new Socket[SOCKETS];
        try {
            for (int i = 0; i < SOCKETS; i++) {
                sockets[i] = new Socket(address.getAddress(), address.getPort());
                if (sayings.length > 0) {
                    sockets[i].getOutputStream().write(sayings[i % sayings.length]);
                }
                if (i % 10 == 9) {
                    assertServes(server);
                }
            }
        } finally {
            for (Socket socket : sockets) {
                if (socket != null) {
                    socket.close();
                }
            }
        }
        assertServes(server);
        assertEquals(SOCKETS / 10 + 1, children.active.get());
    }

    private void assertServes(Channel server) throws Exception {
        UcxSocketChannel client = peers.connect(server, new Inbox());
        Peers.await(client.writeAndFlush(Unpooled.copyInt(1)));
        Peers.await(client.close());
    }
}
