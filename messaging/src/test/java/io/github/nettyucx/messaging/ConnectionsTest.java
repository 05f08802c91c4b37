// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxChannelOption;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

/** Connections are made when needed, kept up to a limit, and made again. */
@Timeout(60)
class ConnectionsTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);

    private static final RequestType<String, String> ASK =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE);

    private static final class Told implements NodeListener {

        final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();

        @Override
        public void undelivered(Peer peer, long from, long to, Throwable cause) {
            events.add("undelivered " + peer.id() + " " + from + " " + to + ": " + cause.getMessage());
        }

        @Override
        public void connected(Peer peer) {
            events.add("connected " + peer.id());
        }

        @Override
        public void disconnected(Peer peer, Throwable cause) {
            events.add("disconnected " + peer.id() + (cause == null ? " in order" : ""));
        }

        String next() throws InterruptedException {
            String event = events.poll(15, TimeUnit.SECONDS);
            assertTrue(event != null, "nothing was told");
            return event;
        }
    }

    @ParameterizedTest
    @EnumSource
    void theLeastRecentlyUsedIsClosedAndMadeAgainAndNothingIsLost(TestTransport transport) throws Exception {
        int rounds = 20;
        try (var nodes = new TestTransport.Nodes(transport)) {
            var told = new Told();
            Node one = nodes.start(1, builder -> builder.maxConnections(2).listener(told));
            var received = new AtomicInteger[6];
            var answered = new AtomicInteger();
            one.onMessage(TEXT, (from, message) -> answered.incrementAndGet());
            for (int id = 2; id < 6; id++) {
                var count = new AtomicInteger();
                received[id] = count;
                nodes.start(id).onMessage(TEXT, (from, message) -> {
                    if (message.equals("" + count.get())) {
                        count.incrementAndGet();
                    }
                    from.send(TEXT, message);
                });
            }
            for (int round = 0; round < rounds; round++) {
                for (int id = 2; id < 6; id++) {
                    one.peer(id).send(TEXT, "" + round);
                }
            }
            MessagesTest.await("all", () -> answered.get() == 4 * rounds);
            for (int id = 2; id < 6; id++) {
                assertEquals(rounds, received[id].get());
            }
            MessagesTest.await("the limit",
                    () -> one.metrics().connections() <= 2 && one.metrics().connectionsClosed() >= 2);
            assertEquals(0, one.metrics().connectionsLost());
            assertEquals(0, one.metrics().undelivered());
            assertEquals("connected", told.next().split(" ")[0]);
            // The one that was closed works as before.
            one.peer(2).send(TEXT, "" + rounds);
            MessagesTest.await("again", () -> received[2].get() == rounds + 1);
        }
    }

    /** Whom it has asked does not know where it is. It has nothing to send, and needs a connection nevertheless. */
    @ParameterizedTest
    @EnumSource
    void aNodeThatDoesNotListenGetsItsAnswerThoughItsConnectionWasClosed(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node server = nodes.start(1, builder -> builder.maxConnections(1));
            var kept = new LinkedBlockingQueue<Responder<String>>();
            var received = new AtomicInteger();
            server.onRequest(ASK, (from, request, responder) -> kept.add(responder.detach()));
            server.onMessage(TEXT, (from, message) -> received.incrementAndGet());
            CompletableFuture<String> answer = nodes.startClient(2).peer(1).requestAsync(ASK, "?", Duration.ofSeconds(15));
            Responder<String> responder = kept.take();
            Node other = nodes.startClient(3);
            other.peer(1).send(TEXT, "the one connection is for this");
            MessagesTest.await("the other", () -> received.get() == 1);
            MessagesTest.await("the limit", () -> server.metrics().connectionsClosed() >= 1);
            responder.respond("!");
            assertEquals("!", answer.get(20, TimeUnit.SECONDS));
            assertEquals(0, server.metrics().undelivered());
            assertEquals(0, server.metrics().connectionsLost());
            // The one that has no request under way makes no connection.
            MessagesTest.await("the limit again", () -> other.metrics().connections() == 0);
            assertEquals(1, other.metrics().connectionsOpened());
        }
    }

    @ParameterizedTest
    @EnumSource
    void bothConnectAtTheSameTime(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            var atOne = new AtomicInteger();
            var atTwo = new AtomicInteger();
            one.onMessage(TEXT, (from, message) -> atOne.incrementAndGet());
            two.onMessage(TEXT, (from, message) -> atTwo.incrementAndGet());
            Thread other = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 1000; i++) {
                    two.peer(1).send(TEXT, "x");
                }
            });
            for (int i = 0; i < 1000; i++) {
                one.peer(2).send(TEXT, "x");
            }
            other.join();
            MessagesTest.await("all", () -> atOne.get() == 1000 && atTwo.get() == 1000);
            assertEquals(0, one.metrics().undelivered() + two.metrics().undelivered());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsSentToNobodyIsTold(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var told = new Told();
            Node one = nodes.start(1, builder -> builder.reachTimeout(Duration.ofSeconds(2)).listener(told));
            // Both in one turn of the loop that ends the attempt, and so they are told of together.
            long[] sent = one.timer().submit(
                    () -> new long[] {one.peer(7).send(TEXT, "nobody"), one.peer(7).send(TEXT, "nobody")}).get();
            long ticket = sent[0];
            long last = sent[1];
            assertTrue(told.next().startsWith("undelivered 7 0 " + (2 * (last - ticket)) + ": node 7 cannot be reached"));
            assertEquals(Peer.Delivery.UNDELIVERED, one.peer(7).delivery(ticket));
            assertEquals(Peer.Delivery.UNDELIVERED, one.peer(7).delivery(last));
            // When it is there it is found.
            var received = new AtomicInteger();
            nodes.start(7).onMessage(TEXT, (from, message) -> received.incrementAndGet());
            MessagesTest.await("found", () -> {
                long next = one.peer(7).send(TEXT, "there");
                while (one.peer(7).delivery(next) == Peer.Delivery.PENDING) {
                    Thread.onSpinWait();
                }
                return one.peer(7).delivery(next) == Peer.Delivery.DELIVERED;
            });
            assertEquals(1, received.get());
        }
    }

    /** An attempt to connect to it does not fail by itself. */
    @ParameterizedTest
    @EnumSource
    void whatIsSentToOneThatSaysNothingIsToldInTime(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport);
                var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nodes.addresses.put(7, silent.getLocalSocketAddress());
            var told = new Told();
            Node one = nodes.start(1, builder -> builder.reachTimeout(Duration.ofMillis(500)).listener(told));
            long begin = System.nanoTime();
            long ticket = one.peer(7).send(TEXT, "x");
            assertTrue(told.next().startsWith("undelivered 7 "));
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
            assertTrue(millis >= 500 && millis < 9_500, millis + " ms");
            assertEquals(Peer.Delivery.UNDELIVERED, one.peer(7).delivery(ticket));
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAddressOfAnotherNodeIsRefused(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var told = new Told();
            Node one = nodes.start(1, builder -> builder.reachTimeout(Duration.ofMillis(200)).listener(told));
            nodes.start(2);
            nodes.addresses.put(3, nodes.addresses.get(2));
            one.peer(3).send(TEXT, "for 3");
            assertTrue(told.next().startsWith("undelivered 3 "));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStrangerDoesNoHarm(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            var received = new AtomicInteger();
            two.onMessage(TEXT, (from, message) -> received.incrementAndGet());
            try (Socket stranger = new Socket()) {
                stranger.connect((InetSocketAddress) two.address());
                stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\nand so on, for more than a HELLO has".getBytes());
                stranger.setSoTimeout(15_000);
                int read;
                do {
                    read = stranger.getInputStream().read(new byte[100]);
                } while (read > 0);
                assertEquals(-1, read);
            }
            one.peer(2).send(TEXT, "x");
            MessagesTest.await("a friend", () -> received.get() == 1);
        }
    }

    /** It need not be waited for until the time of a HELLO is over, nor have memory meanwhile. */
    @ParameterizedTest
    @EnumSource
    void aStrangerThatAnnouncesALongFrameIsSentAwayAtOnce(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport); Socket stranger = new Socket()) {
            stranger.connect((InetSocketAddress) nodes.start(1).address());
            ByteBuf frame = UnpooledByteBufAllocator.DEFAULT.heapBuffer()
                    .writeLongLE(Frame.word(FrameReader.MAX_FRAME, Frame.HELLO, 0)).writeZero(64);
            frame.readBytes(stranger.getOutputStream(), frame.readableBytes());
            frame.release();
            stranger.setSoTimeout(9_000);
            int read;
            do {
                read = stranger.getInputStream().read(new byte[100]);
            } while (read > 0);
            assertEquals(-1, read);
        }
    }

    @Test
    void ofTheFirstFrameNoMoreIsKeptThanAHelloHas() {
        var allocator = new UnpooledByteBufAllocator(true);
        var reader = new FrameReader(allocator, (word, buffer, begin, end) -> fail("a frame"));
        ByteBuf in = allocator.heapBuffer().writeLongLE(Frame.word(FrameReader.MAX_FRAME, Frame.HELLO, 0)).writeByte(1);
        reader.read(in.slice(0, 4));
        assertThrows(IllegalArgumentException.class, () -> reader.read(in.slice(4, 5)));
        assertEquals(256, allocator.metric().usedDirectMemory());
        reader.close();
        in.release();
        assertEquals(0, allocator.metric().usedDirectMemory());
    }

    /** Each would be answered, and the answers kept for who does not read them. */
    @Test
    void aNodeThatSaysGoodbyeTwiceIsSentAway() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO); Socket wrong = new Socket()) {
            // So long it would be waited for otherwise.
            Node one = nodes.start(1, builder -> builder.goodbyeTimeout(Duration.ofSeconds(60)));
            wrong.connect((InetSocketAddress) one.address());
            ByteBuf frames = new Hello(2, 1, 42).encode(UnpooledByteBufAllocator.DEFAULT);
            for (int i = 0; i < 2; i++) {
                frames.writeLongLE(Frame.word(8, Frame.GOODBYE, 0));
            }
            frames.readBytes(wrong.getOutputStream(), frames.readableBytes());
            frames.release();
            wrong.setSoTimeout(15_000);
            int read;
            do {
                read = wrong.getInputStream().read(new byte[100]);
            } while (read > 0);
            MessagesTest.await("it is sent away", () -> one.metrics().connectionsLost() == 1);
        }
    }

    /** Otherwise what it never got would count as delivered. */
    @Test
    void aNodeThatAcknowledgesWhatItWasNotSentIsSentAway() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO);
                var listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nodes.addresses.put(2, listening.getLocalSocketAddress());
            Peer two = nodes.start(1).peer(2);
            long ticket = two.send(TEXT, "x");
            try (Socket wrong = listening.accept()) {
                ByteBuf frames = new Hello(2, 1, 42).encode(UnpooledByteBufAllocator.DEFAULT);
                frames.writeLongLE(Frame.word(16, Frame.ACK, 0)).writeLongLE(1 << 20);
                // Its HELLO, and the message.
                wrong.setSoTimeout(10_000);
                frames.readBytes(wrong.getOutputStream(), frames.readableBytes() - 16);
                assertTrue(wrong.getInputStream().readNBytes(40).length == 40);
                frames.readBytes(wrong.getOutputStream(), 16);
                frames.release();
                int read;
                do {
                    read = wrong.getInputStream().read(new byte[100]);
                } while (read > 0);
                assertEquals(-1, read);
            }
            MessagesTest.await("told", () -> two.delivery(ticket) != Peer.Delivery.PENDING);
            assertEquals(Peer.Delivery.UNDELIVERED, two.delivery(ticket));
        }
    }

    @ParameterizedTest
    @EnumSource
    void overTls(TestTransport transport) throws Exception {
        var certificate = new SelfSignedCertificate();
        SslContext server = SslContextBuilder.forServer(certificate.certificate(), certificate.privateKey()).build();
        SslContext client = SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE).build();
        try (var nodes = new TestTransport.Nodes(transport)) {
            List<Node> both = new ArrayList<>();
            for (int id = 1; id <= 2; id++) {
                both.add(nodes.start(id, builder -> builder.handlers(
                        channel -> channel.pipeline().addLast(client.newHandler(channel.alloc())),
                        channel -> channel.pipeline().addLast(server.newHandler(channel.alloc())))));
            }
            var received = new AtomicInteger();
            both.get(1).onMessage(TEXT, (from, message) -> received.addAndGet(message.length()));
            for (int i = 0; i < 2000; i++) {
                both.get(0).peer(2).send(TEXT, "x".repeat(i));
            }
            MessagesTest.await("all", () -> received.get() == 1999 * 1000);
        } finally {
            certificate.delete();
        }
    }

    /** What has been encrypted lies no more in the ring, and must not heap up where nobody counts it. */
    @ParameterizedTest
    @EnumSource
    void overTlsAReceiverThatReadsNothingHoldsUpItsSender(TestTransport transport) throws Exception {
        var bytes = new MessageType<>(3, ByteBufCodec.INSTANCE);
        int length = 64 * 1024;
        // More than the ring, the transport and the channel hold together.
        int most = 32 * 1024 * 1024 / length;
        var certificate = new SelfSignedCertificate();
        SslContext server = SslContextBuilder.forServer(certificate.certificate(), certificate.privateKey()).build();
        SslContext client = SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE).build();
        var go = new CountDownLatch(1);
        try (var nodes = new TestTransport.Nodes(transport)) {
            UnaryOperator<NodeBuilder> tls = builder -> builder.sendTimeout(Duration.ofSeconds(1)).handlers(
                    channel -> channel.pipeline().addLast(client.newHandler(channel.alloc())),
                    channel -> channel.pipeline().addLast(server.newHandler(channel.alloc())));
            Node one = nodes.start(1, tls);
            Node two = nodes.start(2, tls);
            var received = new AtomicInteger();
            two.onMessage(bytes, (from, message) -> {
                go.await();
                received.incrementAndGet();
            });
            two.onMessage(TEXT, (from, message) -> { });
            // It is connected before: for that, too, a thread waits no longer than for room.
            long first = one.peer(2).send(TEXT, "");
            MessagesTest.await("connected", () -> one.peer(2).delivery(first) == Peer.Delivery.DELIVERED);
            ByteBuf message = Unpooled.wrappedBuffer(new byte[length]);
            int sent = 0;
            boolean isFull = false;
            while (!isFull && sent < most) {
                try {
                    one.peer(2).send(bytes, message);
                    sent++;
                } catch (MessagingException.RingFull e) {
                    isFull = true;
                }
            }
            go.countDown();
            int all = sent;
            assertTrue(isFull, () -> all + " messages of " + length + " bytes were taken, of which nothing was read");
            MessagesTest.await("all", () -> received.get() == all);
            // And it goes on.
            one.peer(2).send(bytes, message);
            MessagesTest.await("another one", () -> received.get() == all + 1);
        } finally {
            go.countDown();
            certificate.delete();
        }
    }

    @Test
    void aSharedSecretKeepsOthersOut() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            var told = new Told();
            byte[] secret = "a secret of at least thirty-two bytes".getBytes();
            byte[] other = "another secret of thirty-two bytes or more".getBytes();
            Node one = nodes.start(1, builder -> builder.option(UcxChannelOption.SHARED_SECRET, secret));
            Node two = nodes.start(2, builder -> builder.option(UcxChannelOption.SHARED_SECRET, secret));
            Node three = nodes.start(3, builder -> builder.option(UcxChannelOption.SHARED_SECRET, other).listener(told)
                    .reachTimeout(Duration.ofMillis(200)));
            var received = new LinkedBlockingQueue<Integer>();
            two.onMessage(TEXT, (from, message) -> received.add(from.id()));
            three.peer(2).send(TEXT, "x");
            assertTrue(told.next().startsWith("undelivered 2 "));
            one.peer(2).send(TEXT, "x");
            assertEquals(1, received.poll(10, TimeUnit.SECONDS));
            assertEquals(0, received.size());
        }
    }
}
