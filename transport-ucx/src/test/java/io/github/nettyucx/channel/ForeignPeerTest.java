// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.SharedSecret;
import io.github.nettyucx.handshake.Terms;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Peers that are not of this transport, or of another release of it, are told from ours, and do no harm. */
@Timeout(60)
class ForeignPeerTest {

    private static final byte[] HTTP =
            "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte[] SECRET = "sixteen bytes and more".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OTHER_SECRET = "another one of sixteen bytes".getBytes(StandardCharsets.US_ASCII);
    private static final int MIB = 1024 * 1024;
    private static final int OTHER_UCX = 9 << 24 | 9 << 16;
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 1000;
    private static final int LONG_MILLIS = 8000;
    private static final int LATE_MILLIS = 4000;
    private static final int SOCKETS = 50;
    private static final int REFUSE_HEADER = 8;

    private Peers peers;
    private Children children;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
        children = new Children();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** Counts a server's children. */
    private static final class Children {

        final AtomicInteger registered = new AtomicInteger();
        /** Active, and with a connection: one that turns out to have none is active as well. */
        final AtomicInteger connected = new AtomicInteger();

        final class Child extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                registered.incrementAndGet();
            }

            @Override
            public void channelActive(ChannelHandlerContext context) {
                if (!((UcxSocketChannel) context.channel()).transports().isEmpty()) {
                    connected.incrementAndGet();
                }
            }
        }
    }

    private ServerBootstrap server() {
        return peers.server(() -> children.new Child());
    }

    /** Of this lane. */
    private static Terms terms(SharedSecret secret) {
        return HandshakeBytes.terms(Lane.current().toString(), secret, null, null);
    }

    // ------------------------------------------------------------------------------------------- servers

    /** What is wrong with an ANSWER that is all right but for that, and what is said of it. */
    private static Map<String, UnaryOperator<byte[]>> badAnswers() {
        Map<String, UnaryOperator<byte[]>> bad = new LinkedHashMap<>();
        bad.put("the server speaks version 1 of the Netty UCX protocol, the client version 2",
                answer -> HandshakeBytes.with16(answer, HandshakeBytes.VERSION, 1));
        bad.put("the server speaks version 3 of the Netty UCX protocol",
                answer -> HandshakeBytes.with16(answer, HandshakeBytes.VERSION, 3));
        bad.put("the server announces a channel id of 0",
                answer -> HandshakeBytes.with32(answer, HandshakeBytes.CHANNEL_ID, 0));
        bad.put("the server announces a window of 1 bytes; expected 4096 to 134217728",
                answer -> HandshakeBytes.with32(answer, HandshakeBytes.WINDOW, 1));
        bad.put("the server announces a largest message of 2097152 bytes; expected 1 to the window, 1048576",
                answer -> HandshakeBytes.with32(answer, HandshakeBytes.MAX_MESSAGE, 2 * MIB));
        bad.put("the server's ANSWER has 256 bytes; expected 304",
                answer -> HandshakeBytes.with16(answer, HandshakeBytes.LENGTH, HandshakeBytes.HELLO_LENGTH));
        bad.put("the server sent 1 bytes more than it was asked for",
                answer -> Arrays.copyOf(answer, answer.length + 1));
        bad.put("the server's proof is not the nonce of the client: it belongs to another connection",
                answer -> HandshakeBytes.with16(answer, answer.length - 2, answer[answer.length - 1] + 1));
        bad.put("the server does not speak the Netty UCX protocol: it began with \"OettyUCX", answer -> {
            answer[0]++;
            return answer;
        });
        bad.put("it began with \"HTTP/1.1 400 Bad\"",
                answer -> "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
        if (Lane.current().isLink()) {
            bad.put("the server 9.9.0", answer -> HandshakeBytes.with32(answer, HandshakeBytes.UCX_VERSION, OTHER_UCX));
        }
        return bad;
    }

    @OnEachLane
    void aServersBadAnswerFailsTheConnectWithItsReason() throws Exception {
        for (Map.Entry<String, UnaryOperator<byte[]>> bad : badAnswers().entrySet()) {
            HandshakeException failure =
                    connectTo(peers.client(new Inbox()), hello -> bad.getValue().apply(answer(hello, null)));
            assertTrue(failure.getMessage().contains(bad.getKey()), failure::toString);
        }
    }

    @OnEachLane
    void aServerThatSaysWhatItHasHeardIsNotTakenForOne() throws Exception {
        HandshakeException failure = connectTo(peers.client(new Inbox()), UnaryOperator.identity());
        assertEquals(HandshakeFailure.PROTOCOL_VIOLATION, failure.reason());
        assertTrue(failure.getMessage().contains("the server's ANSWER has 256 bytes; expected 304"), failure::toString);
    }

    @OnEachLane
    void aServerWithoutTheSecretIsNotTakenForOne() throws Exception {
        assertEquals(HandshakeFailure.WRONG_SECRET, connectTo(clientWithSecret(), hello ->
                answer(hello, SharedSecret.of(OTHER_SECRET))).reason());
        assertEquals(HandshakeFailure.NO_SECRET, connectTo(clientWithSecret(), hello -> {
            // Flags: that it has no secret, which a server does not say by itself to a client that has one.
            byte[] answer = answer(hello, SharedSecret.of(SECRET));
            answer[HandshakeBytes.CHANNEL_ID - 1] = 0;
            return answer;
        }).reason());
    }

    private Bootstrap clientWithSecret() {
        return peers.client(new Inbox()).option(UcxChannelOption.SHARED_SECRET, SECRET);
    }

    /** The answer of somebody of this host, who sees the addresses as the client does. */
    private static byte[] answer(byte[] hello, SharedSecret secret) {
        Terms terms = HandshakeBytes.terms(Lane.current().toString(), secret,
                HandshakeBytes.remoteOf(hello), HandshakeBytes.localOf(hello));
        return HandshakeBytes.answer(hello, terms);
    }

    /** Connects to a server that answers like that, which has to fail; the server is told why, too. */
    private static HandshakeException connectTo(Bootstrap client, Function<byte[], byte[]> answer) throws Exception {
        try (RawPeer server = new RawPeer()) {
            InetSocketAddress address = server.listen();
            ChannelFuture connect = client.connect(address);
            server.accept();
            byte[] hello = server.hear(HandshakeBytes.HELLO_LENGTH);
            server.say(answer.apply(hello));
            server.until(connect::isDone, "connect neither fails nor succeeds");
            HandshakeException failure = assertInstanceOf(HandshakeException.class, Peers.awaitFailure(connect));
            assertTrue(failure.getMessage().endsWith("127.0.0.1:" + address.getPort()), failure::toString);
            server.awaitEnd();
            connect.channel().close();
            Peers.await(connect.channel().closeFuture());
            return failure;
        }
    }

    // ------------------------------------------------------------------------------------------- clients

    /** HELLOs that must not be taken, and what the client is told. */
    private static Map<String, byte[]> badHellos() {
        byte[] good = HandshakeBytes.hello(terms(null));
        Map<String, byte[]> bad = new LinkedHashMap<>();
        bad.put("the client speaks version 1 of the Netty UCX protocol, the server version 2",
                HandshakeBytes.with16(good, HandshakeBytes.VERSION, 1));
        bad.put("the client speaks version 65535", HandshakeBytes.with16(good, HandshakeBytes.VERSION, 0xffff));
        bad.put("the client's HELLO has 255 bytes; expected 256",
                HandshakeBytes.with16(good, HandshakeBytes.LENGTH, 255));
        bad.put("the client announces a channel id of 0", HandshakeBytes.with32(good, HandshakeBytes.CHANNEL_ID, 0));
        bad.put("the client announces a window of 4294967295 bytes",
                HandshakeBytes.with32(good, HandshakeBytes.WINDOW, -1));
        bad.put("the client announces a largest message of 0 bytes",
                HandshakeBytes.with32(good, HandshakeBytes.MAX_MESSAGE, 0));
        bad.put("the server has no shared secret, the client has one",
                HandshakeBytes.hello(terms(SharedSecret.of(SECRET))));
        if (Lane.current().isLink()) {
            bad.put("the client 9.9.0", HandshakeBytes.with32(good, HandshakeBytes.UCX_VERSION, OTHER_UCX));
            bad.put("the two sides see different addresses", good);
        }
        return bad;
    }

    @OnEachLane
    void aClientWithABadHelloIsToldWhyAndItsChildIsNeverConnected() throws Exception {
        Channel server = peers.listen(server());
        int count = 0;
        for (Map.Entry<String, byte[]> bad : badHellos().entrySet()) {
            assertTrue(refusalOf(server, bad.getValue()).contains(bad.getKey()),
                    () -> bad.getKey() + ", not: " + refusalOf(server, bad.getValue()));
            count++;
            assertEquals(0, children.connected.get(), bad::getKey);
        }
        assertServes(server);
        assertEquals(count + 1, children.registered.get());
        awaitConnected(1);
    }

    /** Closing a socket in which something lies unread is a reset, by which the peer would lose what was said last. */
    @OnEachLane
    void aClientThatGoesOnTalkingIsStillToldWhyItIsRefused() throws Exception {
        Channel server = peers.listen(server());
        byte[] hello = HandshakeBytes.with16(HandshakeBytes.hello(terms(null)), HandshakeBytes.VERSION, 1);
        CountDownLatch said = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        // The server does not refuse before all is said: a client that is slow at that would find the socket closed.
        Future<?> heldUp = server.eventLoop().submit(() -> {
            held.countDown();
            assertTrue(said.await(15, TimeUnit.SECONDS));
            return null;
        });
        assertTrue(held.await(15, TimeUnit.SECONDS));
        try (RawPeer client = new RawPeer()) {
            client.connect((InetSocketAddress) server.localAddress());
            // Less than the two sockets keep.
            client.say(Arrays.copyOf(hello, 200_000));
            said.countDown();
            Peers.await(heldUp);
            String refusal = hearRefusal(client);
            assertTrue(refusal.contains("the client speaks version 1"), refusal);
        }
        assertServes(server);
    }

    @OnEachLane
    void aClientThatDoesNotStopTalkingWhenItIsRefusedIsCutOff() throws Exception {
        Channel server = peers.listen(server());
        byte[] hello = HandshakeBytes.with16(HandshakeBytes.hello(terms(null)), HandshakeBytes.VERSION, 1);
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        try (Socket client = new Socket(address.getAddress(), address.getPort())) {
            client.getOutputStream().write(hello);
            long start = System.nanoTime();
            byte[] more = new byte[1024];
            try {
                while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(15)) {
                    client.getOutputStream().write(more);
                }
                throw new AssertionError("the server takes whatever comes");
            } catch (SocketException e) {
                assertTrue(e.getMessage().contains("reset") || e.getMessage().contains("pipe"), e::toString);
            }
        }
        assertServes(server);
    }

    /** What the server says to whom it refuses, until it closes. */
    private static String refusalOf(Channel server, byte[] said) {
        try (RawPeer client = new RawPeer()) {
            client.connect((InetSocketAddress) server.localAddress());
            client.say(said);
            return hearRefusal(client);
        } catch (IOException e) {
            throw new AssertionError("not told why it is refused", e);
        }
    }

    private static String hearRefusal(RawPeer client) throws IOException {
        byte[] heard = client.hear(1000);
        assertTrue(heard.length > REFUSE_HEADER && heard[0] == HandshakeBytes.REFUSE, () -> Arrays.toString(heard));
        assertEquals(heard.length, ByteBuffer.wrap(heard).getShort(2));
        return new String(heard, REFUSE_HEADER, heard.length - REFUSE_HEADER, StandardCharsets.UTF_8);
    }

    @OnEachLane
    void aClientWithoutAHelloIsClosedInTime() throws Exception {
        Channel server = peers.listen(server()
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS));
        assertServes(server);
        try (RawPeer client = new RawPeer()) {
            long start = System.nanoTime();
            client.connect((InetSocketAddress) server.localAddress());
            client.awaitEnd();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            // The default is ten seconds.
            assertTrue(millis >= HANDSHAKE_TIMEOUT_MILLIS - 50 && millis < 8000, () -> "closed after " + millis + " ms");
        }
        assertServes(server);
        awaitConnected(2);
    }

    @OnEachLane
    void halfAHelloIsNone() throws Exception {
        assertTimesOut(Arrays.copyOf(HandshakeBytes.hello(terms(null)), HandshakeBytes.HELLO_LENGTH - 1),
                UcxPlainPeers.SPEAKING);
    }

    /** An ordinary client may begin so, where there are any. */
    @OnEachLane
    void theBeginningOfTheMagicNumberIsNone() throws Exception {
        assertTimesOut("NettyU".getBytes(StandardCharsets.US_ASCII), UcxPlainPeers.REFUSE);
    }

    @OnEachLane
    void aHelloWithoutTheLastWordIsNoConnection() throws Exception {
        assertTimesOut(HandshakeBytes.hello("socket"), UcxPlainPeers.SPEAKING);
    }

    /** A byte now and then does not make the time longer. */
    @OnEachLane
    void aHelloByteByByteHasNoMoreTime() throws Exception {
        Channel server = peers.listen(server()
                // Others may take a client that is slow with its first eight bytes for an ordinary one.
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS));
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        byte[] hello = HandshakeBytes.hello(terms(null));
        try (Socket client = new Socket(address.getAddress(), address.getPort())) {
            client.setTcpNoDelay(true);
            client.setSoTimeout(20);
            int said = 0;
            boolean ended = false;
            while (!ended && said < hello.length) {
                client.getOutputStream().write(hello[said++]);
                try {
                    ended = client.getInputStream().read() < 0;
                } catch (SocketTimeoutException e) {
                    // Nothing yet.
                }
            }
            assertTrue(ended, "all of it was taken");
        } catch (SocketException e) {
            // A byte came too late.
        }
        assertEquals(0, children.connected.get());
        assertServes(server);
    }

    /** Nor does its first word: there is one time for the whole handshake. */
    @OnEachLane(lanes = Lane.SOCKET)
    void whoSaysHelloLateHasNoMoreTimeForTheRest() throws Exception {
        Channel server = peers.listen(server().childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, LONG_MILLIS));
        // What is made ready for the first connection is not the client's time.
        assertServes(server);
        try (RawPeer client = new RawPeer()) {
            long start = System.nanoTime();
            client.connect((InetSocketAddress) server.localAddress());
            Peers.await(server.eventLoop().schedule(() -> { }, LATE_MILLIS, TimeUnit.MILLISECONDS));
            client.say(HandshakeBytes.hello("socket"));
            assertEquals(HandshakeBytes.ANSWER_LENGTH, client.hear(HandshakeBytes.ANSWER_LENGTH).length);
            client.awaitEnd();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis >= LONG_MILLIS - 50 && millis < LATE_MILLIS + LONG_MILLIS - 100,
                    () -> "closed after " + millis + " ms");
        }
        assertEquals(1, TestLoops.driver(server.eventLoop()).metrics().handshakesFailed(HandshakeFailure.TIMED_OUT));
    }

    private void assertTimesOut(byte[] said, UcxPlainPeers plainPeers) throws Exception {
        Channel server = peers.listen(server()
                .childOption(UcxChannelOption.LANES, Lane.current() + (Lane.current().isLink() ? ",socket" : ""))
                .childOption(UcxChannelOption.PLAIN_PEERS, plainPeers)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS));
        try (RawPeer client = new RawPeer()) {
            client.connect((InetSocketAddress) server.localAddress());
            client.say(said);
            client.awaitEnd();
        }
        assertEquals(0, children.connected.get());
        assertEquals(1, TestLoops.driver(server.eventLoop()).metrics().handshakesFailed(HandshakeFailure.TIMED_OUT));
        assertServes(server);
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

    /** Sockets that say these things, one after the other, and stay until a client of ours has been served. */
    private void assertWithstands(byte[]... sayings) throws Exception {
        Channel server = peers.listen(server().childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE));
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
        awaitConnected(SOCKETS / 10 + 1);
    }

    /** A client can have closed before the server's handlers have been told of it. */
    private void awaitConnected(int expected) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (children.connected.get() < expected && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
        assertEquals(expected, children.connected.get());
    }

    private void assertServes(Channel server) throws Exception {
        UcxSocketChannel client = Peers.connect(peers.client(new Inbox())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 10_000), server);
        Peers.await(client.writeAndFlush(Unpooled.copyInt(1)));
        Peers.await(client.close());
    }
}
