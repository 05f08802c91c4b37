// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.SizeClass;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What loops and channels count is what has happened. */
@Tag("any-netty")
class MetricsTest {

    private static final int KIB = 1024;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers(1, 1, UcxWaitStrategy.PARK);
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** Waits for something that the other side's loop does in its own time. */
    private static void awaitCount(long expected, LongSupplier count) throws Exception {
        Eventually.await(15_000, () -> "expected: " + expected + ", but was: " + count.getAsLong(),
                () -> count.getAsLong() == expected);
    }

    private static UcxMetrics metrics(EventLoopGroup group) {
        List<UcxMetrics> loops = new ArrayList<>();
        group.forEach(loop -> loops.add(TestLoops.driver((EventLoop) loop).metrics()));
        return UcxMetrics.sum(loops);
    }

    private UcxMetrics client() {
        return metrics(peers.clientGroup);
    }

    private UcxMetrics server() {
        return metrics(peers.serverGroup);
    }

    // ------------------------------------------------------------------------------------------- traffic

    @OnEachLane(linksOnly = true)
    void bothSidesCountTheSameBytesAndMessages() throws Exception {
        Inbox inbox = new Inbox();
        UcxServerSocketChannel listening = peers.listen(() -> inbox);
        UcxSocketChannel channel = peers.connect(listening, new Inbox());
        int[] sizes = {1, 64, 65, 5 * KIB, 40 * KIB, 200 * KIB};
        StringBuilder expected = new StringBuilder();
        for (int size : sizes) {
            // One by one, and in direct memory, so that each is a message.
            expected.append("x".repeat(size));
            Peers.await(channel.writeAndFlush(
                    Unpooled.directBuffer(size).writeBytes("x".repeat(size).getBytes(StandardCharsets.ISO_8859_1))));
            inbox.awaitText(expected.toString());
        }
        UcxTraffic sent = channel.metrics();
        assertEquals(Arrays.stream(sizes).sum(), sent.bytesSent());
        assertEquals(sizes.length, sent.messagesSent());
        assertEquals(2, sent.messagesSent(SizeClass.UP_TO_64));
        assertEquals(1, sent.messagesSent(SizeClass.UP_TO_512));
        assertEquals(0, sent.messagesSent(SizeClass.UP_TO_4K));
        assertEquals(1, sent.messagesSent(SizeClass.UP_TO_32K));
        assertEquals(2, sent.messagesSent(SizeClass.UP_TO_256K));
        assertEquals(0, sent.bytesReceived());
        assertTrue(sent.sendsDeferred() <= sizes.length);

        UcxTraffic received = inbox.awaitActive().metrics();
        assertEquals(sent.bytesSent(), received.bytesReceived());
        assertEquals(sent.messagesSent(), received.messagesReceived());
        for (SizeClass size : SizeClass.values()) {
            assertEquals(sent.messagesSent(size), received.messagesReceived(size), size::toString);
        }
        assertTrue(received.receivesDeferred() <= sizes.length);

        assertEquals(Set.of(channel.lane()), client().lanes().keySet());
        assertEquals(sent.bytesSent(), client().lanes().get(channel.lane()).bytesSent());
        assertEquals(sent.messagesSent(), client().traffic().messagesSent());
        assertEquals(sent.bytesSent(), server().lanes().get(channel.lane()).bytesReceived());
        assertEquals(1, client().traffic().connections());
        assertEquals(1, server().traffic().connections());
        assertEquals(0, client().messagesForUnknownChannels());
    }

    /** What one call has given to the kernel, or taken from it, is nothing that both sides have in common. */
    @OnEachLane(lanes = Lane.SOCKET)
    void bothSidesOfASocketCountTheSameBytes() throws Exception {
        Inbox inbox = new Inbox();
        UcxServerSocketChannel listening = peers.listen(() -> inbox);
        UcxSocketChannel channel = peers.connect(listening, new Inbox());
        int length = 200 * KIB;
        Peers.await(channel.writeAndFlush(Unpooled.directBuffer().writeZero(length)));
        inbox.awaitText("\0".repeat(length));
        UcxTraffic sent = channel.metrics();
        UcxTraffic received = inbox.awaitActive().metrics();
        assertEquals(length, sent.bytesSent());
        assertEquals(length, received.bytesReceived());
        assertTrue(sent.messagesSent() >= 1);
        assertTrue(received.messagesReceived() >= 1);
        assertEquals(0, sent.bytesReceived() + received.bytesSent());
        assertEquals(Set.of("socket"), client().lanes().keySet());
        assertEquals(length, client().lanes().get("socket").bytesSent());
        assertEquals(length, server().lanes().get("socket").bytesReceived());
        assertEquals(0, sent.creditWaits() + sent.sendsDeferred() + received.creditMessagesSent());
    }

    /** Over shared memory UCX may have sent it eagerly, as far as there was room; over RDMA as a whole, if the device is slow. */
    @OnEachLane(lanes = {Lane.SHM, Lane.TCP})
    void aLargeSendIsInFlightUntilItIsRead() throws Exception {
        int length = 2 * KIB * KIB;
        Inbox inbox = new Inbox();
        UcxServerSocketChannel listening = peers.listen(peers.server(() -> inbox)
                .childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.SO_RCVBUF, 4 * length));
        UcxSocketChannel channel = peers.connect(listening, new Inbox());
        ChannelFuture write = channel.writeAndFlush(Unpooled.directBuffer().writeZero(length));
        UcxSocketChannel child = inbox.awaitActive();
        awaitCount(1, () -> child.metrics().messagesReceived());
        // Its loop may still be in the call.
        awaitCount(1, () -> channel.metrics().sendsDeferred());
        assertEquals(0, child.metrics().receivesDeferred(), "nobody has asked for it");
        assertTrue(client().operationsInFlight() >= 1);
        assertFalse(write.isDone());
        child.config().setAutoRead(true);
        Peers.await(write);
        inbox.awaitText("\0".repeat(length));
        assertTrue(child.metrics().receivesDeferred() == 1 || Lane.current() == Lane.SHM);
        awaitCount(0, () -> client().operationsInFlight());
    }

    @OnEachLane
    void smallWritesOfOneFlushAreCountedAsGathered() throws Exception {
        Inbox inbox = new Inbox();
        UcxSocketChannel channel = peers.connect(peers.listen(() -> inbox), new Inbox());
        Peers.await(channel.eventLoop().submit(() -> {
            for (int i = 0; i < 10; i++) {
                channel.write(Unpooled.directBuffer().writeBytes(new byte[] {'a', 'b'}));
            }
            channel.flush();
        }));
        inbox.awaitText("ab".repeat(10));
        UcxTraffic traffic = channel.metrics();
        assertEquals(1, traffic.messagesSent());
        assertEquals(1, traffic.messagesGathered());
        assertEquals(10, traffic.buffersGathered());
        Peers.await(channel.writeAndFlush(Unpooled.directBuffer().writeByte('c')));
        // Over RDMA it is copied into registered memory, gathered or not.
        assertEquals(Lane.current() == Lane.RDMA ? 2 : 1, channel.metrics().messagesGathered(), "nothing to gather");
        assertTrue(client().sendBufferBytes() > 0);
    }

    @OnEachLane(linksOnly = true)
    void aPeerThatDoesNotReadIsWaitedFor() throws Exception {
        Inbox inbox = new Inbox();
        UcxServerSocketChannel listening = peers.listen(peers.server(() -> inbox)
                .childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.SO_RCVBUF, 64 * KIB));
        UcxSocketChannel channel = peers.connect(listening, new Inbox());
        int length = 300 * KIB;
        ChannelFuture write = channel.writeAndFlush(Unpooled.directBuffer().writeZero(length));
        awaitCount(1, () -> channel.metrics().creditWaits());
        UcxSocketChannel child = inbox.awaitActive();
        assertEquals(0, child.metrics().creditMessagesSent());
        child.config().setAutoRead(true);
        Peers.await(write);
        inbox.awaitText("\0".repeat(length));
        assertTrue(child.metrics().creditMessagesSent() > 0);
        awaitCount(0, () -> child.metrics().creditMessagesSent() - channel.metrics().creditMessagesReceived());
        assertTrue(channel.metrics().creditWaits() >= 1);
        assertEquals(channel.metrics().creditWaits(), client().traffic().creditWaits());
    }

    // ------------------------------------------------------------------------------------------- handshakes

    /** The kernel says so at once, without asking the network. */
    @OnEachLane(lanes = Lane.SOCKET)
    void aConnectToWhereTheNetworkDoesNotLeadIsCountedAsThat() throws Exception {
        InetSocketAddress multicast = new InetSocketAddress(InetAddress.ofLiteral("224.0.0.1"), 4711);
        assertInstanceOf(NoRouteToHostException.class,
                Peers.awaitFailure(peers.client(new Inbox()).connect(multicast)));
        assertEquals(1, client().handshakesFailed(HandshakeFailure.UNREACHABLE));
        assertEquals(1, client().handshakesFailed());
    }

    @OnEachLane
    void connectsThatFailAreCountedByTheirReason() throws Exception {
        Channel listening = peers.listen(Inbox::new);
        InetSocketAddress address = (InetSocketAddress) listening.localAddress();
        Peers.await(listening.close());
        Peers.awaitFailure(peers.client(new Inbox()).connect(address));
        assertEquals(1, client().handshakesFailed(HandshakeFailure.REFUSED));

        try (RawPeer silent = new RawPeer()) {
            InetSocketAddress port = silent.listen();
            Peers.awaitFailure(
                    peers.client(new Inbox()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 200).connect(port));
            awaitCount(1, () -> client().handshakesFailed(HandshakeFailure.TIMED_OUT));
            awaitCount(0, () -> client().endpoints());
            // The first one's, which is over.
            silent.accept();
            ChannelFuture cancelled = peers.client(new Inbox()).connect(port);
            // Not before the connect has begun.
            silent.accept();
            silent.hear(HandshakeBytes.HELLO_LENGTH);
            cancelled.cancel(false);
            Peers.await(cancelled.channel().closeFuture());
            awaitCount(1, () -> client().handshakesFailed(HandshakeFailure.CANCELLED));
            ChannelFuture closed = peers.client(new Inbox()).connect(port);
            silent.accept();
            silent.hear(HandshakeBytes.HELLO_LENGTH);
            CompletableFuture<Long> whenTold = new CompletableFuture<>();
            closed.addListener(done -> whenTold.complete(client().handshakesFailed(HandshakeFailure.CANCELLED)));
            Peers.await(closed.channel().close());
            assertEquals(2, whenTold.get(15, TimeUnit.SECONDS));
        }
        try (RawPeer other = new RawPeer()) {
            ChannelFuture connect = peers.client(new Inbox()).connect(other.listen());
            other.accept();
            other.say(new byte[64]);
            other.until(connect::isDone, "the connect does not end");
            assertEquals(1, client().handshakesFailed(HandshakeFailure.OTHER_PROGRAM));
        }
        assertEquals(5, client().handshakesFailed());
        assertEquals(0, client().traffic().connectionsOpened());
        awaitCount(0, () -> client().endpoints());
    }

    /** The last word finds nobody: that the kernel does not take it is no want of memory. */
    @OnEachLane(lanes = Lane.SOCKET)
    void aServerThatResetsBeforeTheLastWordHasClosed() throws Exception {
        try (RawPeer server = new RawPeer()) {
            ChannelFuture connect = peers.client(new Inbox()).connect(server.listen());
            server.accept();
            byte[] hello = server.hear(HandshakeBytes.HELLO_LENGTH);
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch over = new CountDownLatch(1);
            connect.channel().eventLoop().execute(() -> {
                held.countDown();
                await(over);
            });
            await(held);
            server.say(HandshakeBytes.answer(hello, HandshakeBytes.terms("socket", null, null, null)));
            server.resetAndAwait();
            over.countDown();
            Throwable cause = Peers.awaitFailure(connect);
            assertEquals(1, client().handshakesFailed(HandshakeFailure.CLOSED_BY_PEER), cause::toString);
            assertEquals(1, client().handshakesFailed());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(15, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @OnEachLane
    void aServerCountsWhomItTurnsDown() throws Exception {
        UcxServerSocketChannel listening = peers.listen(peers.server(Inbox::new)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, 200));
        try (RawPeer silent = new RawPeer()) {
            silent.connect(listening.localAddress());
            silent.awaitEnd();
        }
        // Counted last.
        awaitCount(1, () -> server().strangersTurnedAway());
        assertEquals(1, server().handshakesFailed(HandshakeFailure.TIMED_OUT));
    }

    @OnEachLane
    void whoBreaksTheHandshakeIsAStrangerAndCostsNothingOfUcx() throws Exception {
        UcxServerSocketChannel listening = peers.listen(Inbox::new);
        byte[] hello = HandshakeBytes.hello("shm,tcp,socket");
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(listening.localAddress());
            stranger.say(HandshakeBytes.with16(hello, HandshakeBytes.VERSION, 1));
            stranger.awaitEnd();
        }
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(listening.localAddress());
            stranger.say(HandshakeBytes.with32(hello, HandshakeBytes.CHANNEL_ID, 0));
            stranger.awaitEnd();
        }
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(listening.localAddress());
        }
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(listening.localAddress());
            stranger.reset();
        }
        awaitCount(4, () -> server().strangersTurnedAway());
        assertEquals(1, server().handshakesFailed(HandshakeFailure.OTHER_PROTOCOL_VERSION));
        assertEquals(1, server().handshakesFailed(HandshakeFailure.PROTOCOL_VIOLATION));
        assertEquals(2, server().handshakesFailed(HandshakeFailure.CLOSED_BY_PEER));
        assertEquals(0, server().workers() + server().endpoints());
    }

    /** Over a link nothing follows on the socket. */
    @OnEachLane(linksOnly = true)
    void whoSaysMoreThanTheHandshakeIsAStranger() throws Exception {
        UcxServerSocketChannel listening = peers.listen(Inbox::new);
        try (ForgingPeer stranger = new ForgingPeer()) {
            stranger.connect(listening.localAddress());
            stranger.greetUpToGo();
            stranger.sayGo(new byte[] {'x'});
            stranger.awaitEnd();
            awaitCount(1, () -> server().handshakesFailed(HandshakeFailure.PROTOCOL_VIOLATION));
            assertEquals(0, server().traffic().connectionsOpened());
        }
    }

    // ------------------------------------------------------------------------------------------- ends

    @OnEachLane
    void endsAreCountedByTheirReason() throws Exception {
        UcxServerSocketChannel listening = peers.listen(Inbox::new);
        Peers.await(peers.connect(listening, new Inbox()).close());
        awaitCount(1, () -> server().connectionsClosed(CloseReason.ORDERLY));
        awaitCount(1, () -> client().connectionsClosed(CloseReason.ORDERLY));
        assertEquals(0, client().resets() + server().resets());

        UcxSocketChannel channel = peers.connect(listening, new Inbox());
        channel.config().setSoLinger(0);
        Peers.await(channel.close());
        awaitCount(1, () -> server().connectionsClosed(CloseReason.RESET_BY_PEER));
        assertEquals(1, client().connectionsClosed(CloseReason.ABORTED));
        assertEquals(1, client().resets());
        assertEquals(1, server().resets());
        assertEquals(2, client().traffic().connectionsOpened());
        assertEquals(2, server().traffic().connectionsClosed());
        awaitCount(0, () -> client().endpoints() + server().endpoints());
        awaitCount(0, () -> client().operationsInFlight() + server().operationsInFlight());
    }

    @OnEachLane
    void aCloseThatIsNotWaitedForAnyLongerIsAReset() throws Exception {
        UcxServerSocketChannel listening = peers.listen(
                peers.server(Inbox::new).childOption(ChannelOption.AUTO_READ, false));
        UcxSocketChannel channel = Peers.connect(peers.client(new Inbox())
                .option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 300), listening);
        channel.writeAndFlush(Unpooled.directBuffer().writeZero(4 * KIB * KIB));
        Peers.await(channel.close());
        assertEquals(1, client().connectionsClosed(CloseReason.CLOSE_TIMED_OUT));
    }

    // ------------------------------------------------------------------------------------------- loops

    @OnEachLane
    void loopsCountTheirTurnsAndTheirSleep() throws Exception {
        assertEquals(0, client().progressCalls(), "the loop has not begun");
        Inbox inbox = new Inbox();
        UcxSocketChannel channel = peers.connect(peers.listen(() -> inbox), new Inbox());
        channel.writeAndFlush(Unpooled.copiedBuffer("question", StandardCharsets.ISO_8859_1));
        inbox.awaitText("question");
        UcxMetrics before = client();
        boolean link = Lane.current().isLink();
        assertTrue(before.progressCalls() >= before.progressCallsWithWork());
        assertEquals(link, server().progressCallsWithWork() > 0);
        assertEquals(link, before.workers() >= 1);
        assertEquals(link ? 1 : 0, before.endpoints());
        // The loop has to be asleep when the task comes, and nothing tells when it is.
        Eventually.await(15_000, () -> "woken " + (client().wakeups() - before.wakeups()), () -> {
            Thread.sleep(20);
            Peers.await(channel.eventLoop().submit(() -> true));
            return client().wakeups() - before.wakeups() >= 5;
        });
        UcxMetrics after = client();
        assertTrue(after.parks() >= after.wakeups());
    }

    @Test
    void aGroupIsTheSumOfItsLoops() throws Exception {
        UcxEventLoopGroup servers = new UcxEventLoopGroup(2);
        UcxEventLoopGroup clients = new UcxEventLoopGroup(2);
        try (Peers two = new Peers(servers, clients)) {
            UcxServerSocketChannel listening = two.listen(Inbox::new);
            for (int i = 0; i < 3; i++) {
                two.connect(listening, new Inbox());
            }
            List<Long> connections = new ArrayList<>();
            clients.forEach(loop -> connections.add(((UcxEventLoop) loop).metrics().traffic().connections()));
            assertEquals(3, clients.metrics().traffic().connections());
            assertEquals(Set.of(1L, 2L), Set.copyOf(connections));
        }
        assertEquals(3, clients.metrics().connectionsClosed(CloseReason.ORDERLY), "the loops have ended");
        assertEquals(0, clients.metrics().workers() + servers.metrics().workers());
        assertEquals(0, clients.metrics().endpoints() + servers.metrics().endpoints());
        assertEquals(0, clients.metrics().sendBufferBytes() + servers.metrics().sendBufferBytes());
        assertEquals(0, clients.metrics().operationsInFlight() + servers.metrics().operationsInFlight());
    }

    // ------------------------------------------------------------------------------------------- the log

    @Test
    void theLaneOfEachConnectionIsLogged() throws Exception {
        String output = OneConnectionMain.run("-Dio.github.nettyucx.test.logLevel=DEBUG");
        List<String> lines = output.lines().filter(line -> line.contains(" is connected by ")).toList();
        assertEquals(2, lines.size(), output);
        for (String line : lines) {
            // DEBUG [thread] class - [id: …, L:… - R:…] is connected by sysv: [sysv/memory, …]
            String lane = line.replaceFirst(".* is connected by (\\w+): \\[.*\\1.*]", "$1");
            assertTrue(line.contains("DEBUG") && line.contains(" L:/127.0.0.1:") && Lane.current().has(lane), line);
        }
    }
}
