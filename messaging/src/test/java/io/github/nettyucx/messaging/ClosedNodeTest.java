// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What comes when a node has been closed, or while it is. */
@Timeout(60)
class ClosedNodeTest {

    private static final Duration SHORT = Duration.ofMillis(100);
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int LOOKS = 1000;
    private static final int ROUNDS = 20_000;
    private static final int FEWEST_ROUNDS = 500;
    private static final RequestType<String, String> ASK =
            new RequestType<>(1, StringCodec.INSTANCE, StringCodec.INSTANCE);

    @ParameterizedTest
    @EnumSource
    void requestsAreRefusedEachTime(TestTransport transport) {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.maxRequests(1));
            Peer peer = one.peer(2);
            one.close();
            for (int i = 0; i < 2; i++) {
                assertThrows(MessagingException.NodeLost.class, () -> peer.requestAsync(ASK, "x", LONG));
                assertThrows(MessagingException.NodeLost.class, () -> peer.request(ASK, "x", LONG));
            }
        }
    }

    /** As those write who want no bound. It ends all the same, as all has been delivered. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE / 1_000_000_000, Long.MAX_VALUE})
    void endsThoughItsTimesAreTheLongest(long seconds) {
        Duration ever = Duration.ofSeconds(seconds);
        ScheduledExecutorService own;
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1, builder -> builder.sendTimeout(ever).reachTimeout(ever).closeTimeout(ever)
                    .goodbyeTimeout(ever).requestSpin(ever));
            nodes.start(2).onRequest(ASK, (from, request, responder) -> responder.respond(request));
            assertEquals("x", one.peer(2).request(ASK, "x", ever));
            assertEquals("y", one.peer(2).requestAsync(ASK, "y", ever).join());
            own = one.timer();
            one.close();
        }
        assertTrue(own.isTerminated(), "its loops are left behind");
    }

    @Test
    void refusesTimesThatAreNone() {
        assertThrows(IllegalArgumentException.class, () -> Node.builder(1).requestSpin(Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> Node.builder(1).closeTimeout(Duration.ZERO));
    }

    /** Nothing of it is kept by a thread that has waited for an answer, and goes on. */
    @ParameterizedTest
    @EnumSource
    void isForgottenByThreadsThatHaveAskedIt(TestTransport transport) throws Exception {
        WeakReference<Node> closed = askAndClose(transport);
        long deadline = System.nanoTime() + LONG.toNanos();
        while (closed.get() != null) {
            assertTrue(System.nanoTime() - deadline < 0, "the node is still there");
            System.gc();
            // Its loops' threads may not have ended yet.
            Thread.sleep(10);
        }
    }

    private static WeakReference<Node> askAndClose(TestTransport transport) {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            nodes.start(2).onRequest(ASK, (from, request, responder) -> responder.respond(request));
            assertEquals("x", one.peer(2).request(ASK, "x", LONG));
            return new WeakReference<>(one);
        }
    }

    /** Its time is over long before the codec's; the node's loops may have ended. */
    @ParameterizedTest
    @EnumSource
    void whatACodecStillWritesIsToldToItsSender(TestTransport transport) throws Exception {
        var writing = new CountDownLatch(2);
        var go = new CountDownLatch(1);
        Codec<String> slow = new Codec<>() {
            @Override
            public int size(String message) {
                return StringCodec.INSTANCE.size(message);
            }

            @Override
            public void write(String message, Exporter out) {
                writing.countDown();
                try {
                    assertTrue(go.await(20, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                StringCodec.INSTANCE.write(message, out);
            }

            @Override
            public String read(Importer in) {
                return StringCodec.INSTANCE.read(in);
            }
        };
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.closeTimeout(SHORT));
            Peer peer = one.peer(2);
            Future<Long> sent = threads.submit(() -> peer.send(new MessageType<>(2, slow), "x"));
            Future<CompletableFuture<String>> asked = threads.submit(
                    () -> peer.requestAsync(new RequestType<>(3, slow, StringCodec.INSTANCE), "x", LONG));
            assertTrue(writing.await(20, TimeUnit.SECONDS));
            long begin = System.nanoTime();
            one.close();
            // Its default is 5 s.
            assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(4), "closeTimeout is not kept");
            go.countDown();
            assertInstanceOf(MessagingException.NodeLost.class, assertThrows(ExecutionException.class,
                    () -> sent.get(10, TimeUnit.SECONDS)).getCause());
            CompletableFuture<String> future = asked.get(10, TimeUnit.SECONDS);
            assertInstanceOf(MessagingException.NodeLost.class, assertThrows(ExecutionException.class,
                    () -> future.get(10, TimeUnit.SECONDS)).getCause());
            assertEquals(1, one.metrics().requestsFailed());
        } finally {
            go.countDown();
            threads.shutdownNow();
        }
    }

    /** On loops that go on, and with a peer that takes its time to say who it is. */
    @Test
    void aConnectionThatIsReadyTooLateIsClosed() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO);
                var listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nodes.addresses.put(2, listening.getLocalSocketAddress());
            Node one = nodes.start(1, builder -> builder.closeTimeout(SHORT));
            one.peer(2).send(new MessageType<>(2, StringCodec.INSTANCE), "x");
            try (Socket late = listening.accept()) {
                one.close();
                ByteBuf hello = new Hello(2, 1, 42).encode(UnpooledByteBufAllocator.DEFAULT);
                hello.readBytes(late.getOutputStream(), hello.readableBytes());
                hello.release();
                late.setSoTimeout(15_000);
                int read;
                do {
                    read = late.getInputStream().read(new byte[100]);
                } while (read > 0);
                assertEquals(-1, read);
            }
            MessagesTest.await("no connection", () -> one.metrics().connections() == 0);
        }
    }

    /** The two meet within nanoseconds or not at all, so as many are tried as there is time for. */
    @Test
    @SuppressWarnings("deprecation") // of Netty 4.2
    void aPeerThatIsMadeMeanwhileIsClosed() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            for (int round = 0; round < ROUNDS && (round < FEWEST_ROUNDS || System.nanoTime() - deadline < 0); round++) {
                Node node = Node.builder(1).transport(group, NioSocketChannel.class, NioServerSocketChannel.class)
                        .ringCapacity(4096).maxRequests(1).start();
                var together = new AtomicInteger(2);
                Future<Peer> making = thread.submit(() -> {
                    meet(together);
                    return node.peer(2);
                });
                meet(together);
                for (int spins = round % 512; spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                node.close();
                assertTrue(making.get(10, TimeUnit.SECONDS).outgoing().ring().isClosed(), "not closed in round " + round);
            }
        } finally {
            thread.shutdownNow();
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    /** A shutdown hook does, while the main thread does. */
    @ParameterizedTest
    @EnumSource
    void whoeverClosesItWaitsForTheEnd(TestTransport transport) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (var nodes = new TestTransport.Nodes(transport); ServerSocket deaf = new ServerSocket(0, 1,
                InetAddress.getLoopbackAddress())) {
            nodes.addresses.put(2, deaf.getLocalSocketAddress());
            Node one = nodes.start(1, builder -> builder.closeTimeout(SHORT));
            CompletableFuture<String> unanswered = one.peer(2).requestAsync(ASK, "x", LONG);
            var together = new AtomicInteger(2);
            Callable<Boolean> closing = () -> {
                meet(together);
                one.close();
                return unanswered.isDone();
            };
            for (Future<Boolean> closed : threads.invokeAll(List.of(closing, closing))) {
                assertTrue(closed.get(), "it has returned before the node was closed");
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** It would not know that it listens. */
    @Test
    void anEventLoopThatStartsANodeIsToldAndNothingListens() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketAddress address = free.getLocalSocketAddress();
            free.close();
            Future<Node> started = group.submit(() -> Node.builder(1)
                    .transport(group, NioSocketChannel.class, NioServerSocketChannel.class).listen(address).start());
            Throwable failure = assertThrows(ExecutionException.class, started::get).getCause();
            assertInstanceOf(IllegalStateException.class, failure);
            assertTrue(failure.getMessage().contains("an event loop must not start a node that listens"), failure::toString);
            // What it might have left to the loop.
            group.submit(() -> { }).get();
            try (ServerSocket again = new ServerSocket()) {
                again.bind(address);
            }
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    private static void meet(AtomicInteger together) {
        together.decrementAndGet();
        for (int looks = 0; together.get() > 0; looks++) {
            if (looks < LOOKS) {
                Thread.onSpinWait();
            } else {
                // The other one may have no processor.
                Thread.yield();
            }
        }
    }
}
