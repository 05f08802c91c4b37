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

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What is told of the end of a connection: why it was, and when. */
@Timeout(60)
class DisconnectedTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final RequestType<String, String> ASK =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final Duration LONG = Duration.ofSeconds(40);

    private static class Told implements NodeListener {

        final CompletableFuture<Throwable> undelivered = new CompletableFuture<>();
        final CompletableFuture<Throwable> disconnected = new CompletableFuture<>();

        @Override
        public void undelivered(Peer peer, long from, long to, Throwable cause) {
            undelivered.complete(cause);
        }

        @Override
        public void disconnected(Peer peer, Throwable cause) {
            disconnected.complete(cause);
        }
    }

    /** Node 2, by hand. */
    private static final class Raw implements AutoCloseable {

        private final Socket socket = new Socket();
        private final DataInputStream in;

        Raw(Node to) throws IOException {
            socket.connect((InetSocketAddress) to.address());
            socket.setSoTimeout(15_000);
            in = new DataInputStream(socket.getInputStream());
            write(new Hello(2, to.id(), 42).encode(UnpooledByteBufAllocator.DEFAULT));
            read(Frame.HELLO);
        }

        private void write(ByteBuf frame) throws IOException {
            frame.readBytes(socket.getOutputStream(), frame.readableBytes());
            frame.release();
        }

        void write(int kind) throws IOException {
            write(UnpooledByteBufAllocator.DEFAULT.buffer().writeLongLE(Frame.word(Frame.HEADER, kind, 0)));
        }

        void acknowledge(long complete) throws IOException {
            write(UnpooledByteBufAllocator.DEFAULT.buffer().writeLongLE(Frame.word(16, Frame.ACK, 0)).writeLongLE(complete));
        }

        /** @return how many bytes the frame has */
        int read(int kind) throws IOException {
            long word = Long.reverseBytes(in.readLong());
            assertEquals(kind, Frame.kind(word));
            int length = Frame.aligned(Frame.length(word));
            in.readFully(new byte[length - Frame.HEADER]);
            return length;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(15, TimeUnit.SECONDS);
    }

    @Test
    void anEndWithoutAGoodbyeHasACause() throws Exception {
        var told = new Told();
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder -> builder.listener(told));
            try (var two = new Raw(one)) {
                one.peer(2).send(TEXT, "x");
                two.read(Frame.MESSAGE);
            }
            MessagingException.NodeLost lost = assertInstanceOf(MessagingException.NodeLost.class, get(told.disconnected));
            assertSame(lost, get(told.undelivered));
            assertEquals(1, one.metrics().connectionsLost());
            assertEquals(0, one.metrics().connectionsClosed());
        }
    }

    /** Nobody will answer what it had. */
    @Test
    void anEndInsteadOfTheAnswerToAGoodbyeIsALoss() throws Exception {
        var told = new Told();
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder -> builder.listener(told));
            CompletableFuture<String> request;
            try (var two = new Raw(one)) {
                request = one.peer(2).requestAsync(ASK, "x", LONG);
                two.acknowledge(two.read(Frame.REQUEST));
                MessagesTest.await("acknowledged", () -> one.peer(2).isSettled());
                one.peer(2).connections().getFirst().leave();
                two.read(Frame.GOODBYE);
            }
            Throwable lost = get(told.disconnected);
            assertInstanceOf(MessagingException.NodeLost.class, lost);
            assertSame(lost, assertThrows(ExecutionException.class, () -> get(request)).getCause());
            assertEquals(1, one.metrics().connectionsLost());
            assertEquals(0, one.metrics().connectionsClosed());
            assertEquals(1, one.metrics().requestsFailed());
        }
    }

    @Test
    void anEndAfterTheAnswerToAGoodbyeIsInOrder() throws Exception {
        var told = new Told();
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder -> builder.listener(told));
            CompletableFuture<String> request;
            try (var two = new Raw(one)) {
                request = one.peer(2).requestAsync(ASK, "x", LONG);
                two.acknowledge(two.read(Frame.REQUEST));
                two.write(Frame.GOODBYE);
                two.read(Frame.BYE);
            }
            assertNull(get(told.disconnected));
            assertEquals(0, one.metrics().connectionsLost());
            assertEquals(1, one.metrics().connectionsClosed());
            assertTrue(one.requests().isOpen(one.peer(2)), "it may be answered over another connection");
            request.cancel(false);
        }
    }

    /** The new one is on another loop, while the listener is still told what the end of the first one has cost. */
    @Test
    @SuppressWarnings("deprecation") // of Netty 4.2
    void theEndOfAConnectionIsToldBeforeTheNextOne() throws Exception {
        var costs = new CountDownLatch(1);
        var again = new CountDownLatch(2);
        var waited = new CompletableFuture<Boolean>();
        List<String> events = new CopyOnWriteArrayList<>();
        EventLoopGroup group = new NioEventLoopGroup(2);
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder -> builder
                    .transport(group, NioSocketChannel.class, NioServerSocketChannel.class).listener(new NodeListener() {
                        @Override
                        public void undelivered(Peer peer, long from, long to, Throwable cause) {
                            costs.countDown();
                            try {
                                waited.complete(again.await(15, TimeUnit.SECONDS));
                            } catch (InterruptedException e) {
                                waited.completeExceptionally(e);
                            }
                        }

                        @Override
                        public void connected(Peer peer) {
                            events.add("connected");
                            again.countDown();
                        }

                        @Override
                        public void disconnected(Peer peer, Throwable cause) {
                            events.add("disconnected");
                        }
                    }));
            Peer peer = one.peer(2);
            // Each takes a loop in turn, as connections do: the first one is not to be on the loop that accepts the second.
            one.peer(3);
            try (var first = new Raw(one)) {
                peer.send(TEXT, "x");
                first.read(Frame.MESSAGE);
            }
            assertTrue(costs.await(15, TimeUnit.SECONDS));
            try (var second = new Raw(one)) {
                assertTrue(waited.get(20, TimeUnit.SECONDS), "the second connection is on the loop of the first");
                MessagesTest.await("all is told", () -> events.size() == 3);
                assertEquals(List.of("connected", "disconnected", "connected"), events);
                peer.send(TEXT, "y");
                second.read(Frame.MESSAGE);
            }
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
