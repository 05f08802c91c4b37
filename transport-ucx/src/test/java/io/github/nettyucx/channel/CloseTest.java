// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** How connections end: what was written before arrives, and both sides learn of it, in time. */
@Tag("ucx-matrix")
class CloseTest {

    private static final int MIB = 1024 * 1024;
    /** Large enough for UCX to leave it where it is until the peer takes it. */
    private static final int RENDEZVOUS = 2 * MIB;
    private static final long SEED = 4711;
    /** Before a side gives up waiting for the other one, 10 s; a busy machine may take most of that. */
    private static final long PROMPTLY_MILLIS = 8000;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    // ------------------------------------------------------------------------------------------- orderly

    @OnEachLane
    void writesBeforeACloseArrive() throws Exception {
        for (int round = 0; round < 20; round++) {
            StreamReader reader = reader(MIB);
            Channel server = peers.listen(() -> reader);
            Channel client = peers.connect(server, new Inbox());
            ChannelFuture write = client.writeAndFlush(bytes(MIB));
            Peers.await(client.close());
            Peers.await(write);
            reader.ended().get(15, TimeUnit.SECONDS);
            Peers.await(server.close());
        }
    }

    @OnEachLane
    void aLongWriteBeforeACloseArrivesThoughItsReaderIsSlow() throws Exception {
        int length = 64 * MIB;
        // Reads 64 KiB and rests for up to half a millisecond.
        StreamReader reader = new StreamReader(SEED, length, StreamReader.Demand.MANUAL, new SplittableRandom(SEED));
        Channel server = peers.listen(peers.server(() -> reader).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR,
                        new FixedRecvByteBufAllocator(64 * 1024).maxMessagesPerRead(1)));
        Channel client = peers.connect(server, new Inbox());
        ChannelFuture write = client.writeAndFlush(bytes(length));
        ChannelFuture close = client.close();
        Peers.await(write);
        Peers.await(close);
        reader.ended().get(30, TimeUnit.SECONDS);
    }

    @OnEachLane
    void oneWriteMayTakeLongerThanTheCloseTimeoutAsLongAsItIsRead() throws Exception {
        // Over a link a read takes a quarter of what it takes out of a socket, which keeps megabytes of its own besides.
        int length = (Lane.current().isLink() ? 6 : 24) * MIB;
        int restMillis = 60;
        SeededBytes expected = new SeededBytes(SEED);
        CompletableFuture<Long> ended = new CompletableFuture<>();
        Channel server = peers.listen(peers.server(() -> new ChannelInboundHandlerAdapter() {
            private long position;

            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.read();
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ByteBuf buffer = (ByteBuf) message;
                try {
                    int size = buffer.readableBytes();
                    expected.check(position, buffer);
                    position += size;
                } catch (Throwable t) {
                    ended.completeExceptionally(t);
                } finally {
                    buffer.release();
                }
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
                context.executor().schedule(context::read, restMillis, TimeUnit.MILLISECONDS);
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                ended.complete(position);
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                ended.completeExceptionally(cause);
            }
        }).childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.RCVBUF_ALLOCATOR,
                new FixedRecvByteBufAllocator(256 * 1024).maxMessagesPerRead(1)));
        // The reader rests for 96 times 60 ms: longer than this in all, and much shorter each time.
        Channel client = Peers.connect(
                peers.client(new Inbox()).option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 3000), server);
        ChannelFuture write = client.writeAndFlush(bytes(length));
        Peers.await(client.close());
        Peers.await(write);
        assertEquals(length, ended.get(30, TimeUnit.SECONDS));
    }

    @OnEachLane
    void aCloseTakesEveryFlushedWriteAndNoOther() throws Exception {
        StreamReader reader = reader(30_000);
        Channel server = peers.listen(() -> reader);
        Channel client = peers.connect(server, new Inbox());
        SeededBytes stream = new SeededBytes(SEED);
        List<ChannelFuture> flushed = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            flushed.add(client.write(Unpooled.wrappedBuffer(stream.at(i * 1000, 1000))));
        }
        client.flush();
        ChannelFuture unflushed = client.write(bytes(10));
        client.close();
        for (ChannelFuture write : flushed) {
            Peers.await(write);
        }
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(unflushed));
        reader.ended().get(15, TimeUnit.SECONDS);
    }

    @OnEachLane
    void aChannelThatClosesAsSoonAsItIsActiveIsNoticedAndClosesAtOnce() throws Exception {
        for (int round = 0; round < 20; round++) {
            CompletableFuture<Channel> accepted = new CompletableFuture<>();
            Channel server = peers.listen(() -> closing(accepted));
            Inbox client = new Inbox();
            Channel channel = peers.connect(server, client);
            long start = System.nanoTime();
            client.awaitInactive();
            Peers.await(channel.closeFuture());
            Peers.await(accepted.get(15, TimeUnit.SECONDS).closeFuture());
            assertPrompt(start, "both sides' close");
            assertEquals(List.of(), client.exceptions());
            Peers.await(server.close());
        }
    }

    private static ChannelHandler closing(CompletableFuture<Channel> accepted) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(Unpooled.copyInt(1));
                context.close();
                accepted.complete(context.channel());
            }
        };
    }

    @OnEachLane
    void bothSidesCanCloseAtTheSameTime() throws Exception {
        Inbox[] child = new Inbox[1];
        Channel server = peers.listen(() -> child[0] = new Inbox());
        for (int round = 0; round < 50; round++) {
            Inbox client = new Inbox();
            Channel up = peers.connect(server, client);
            Channel down = child[0].awaitActive();
            long start = System.nanoTime();
            ChannelFuture closed = up.close();
            Peers.await(down.close());
            Peers.await(closed);
            assertPrompt(start, "both sides' close");
            assertEquals(List.of(), client.exceptions());
            assertEquals(List.of(), child[0].exceptions());
        }
    }

    @OnEachLane
    void anOrderlyCloseShowsNoException() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        Inbox client = new Inbox();
        Channel channel = peers.connect(server, client);
        Peers.await(channel.writeAndFlush(text("good-bye")));
        Peers.await(channel.close());
        child.awaitInactive();
        assertEquals("good-bye", child.text());
        assertEquals(List.of(), child.exceptions());
        assertEquals(List.of(), client.exceptions());
    }

    // ------------------------------------------------------------------------------------------- half-close

    @OnEachLane
    void anAnswerCanFollowTheEndOfTheRequest() throws Exception {
        int length = 8 * MIB;
        StreamReader request = reader(length);
        Channel server = peers.listen(peers.server(() -> request).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRegistered(ChannelHandlerContext context) {
                        context.pipeline().addLast(request);
                        request.ended().thenRun(() -> {
                            context.writeAndFlush(bytes(length));
                            context.close();
                        });
                    }
                }));
        StreamReader answer = reader(length);
        UcxSocketChannel client = Peers.connect(
                peers.client(answer).option(ChannelOption.ALLOW_HALF_CLOSURE, true), server);
        client.writeAndFlush(bytes(length));
        Peers.await(client.shutdownOutput());
        assertTrue(client.isOutputShutdown());
        answer.ended().get(15, TimeUnit.SECONDS);
        request.ended().get(15, TimeUnit.SECONDS);
    }

    @OnEachLane
    void aSideThatReadsNoMoreHoldsUpNeitherTheOtherSidesWritesNorItsClose() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        UcxSocketChannel client = peers.connect(server, new Inbox());
        Peers.await(client.shutdownInput());
        Channel accepted = child.awaitActive();
        long start = System.nanoTime();
        // More than the window.
        Peers.await(accepted.writeAndFlush(bytes(8 * MIB)));
        Peers.await(accepted.close());
        assertPrompt(start, "writing to a side that reads no more");
        Peers.await(client.close());
    }

    // ------------------------------------------------------------------------------------------- abortive

    @OnEachLane
    void aCloseWithoutLingerIsAReset() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        Channel client = Peers.connect(peers.client(new Inbox()).option(ChannelOption.SO_LINGER, 0), server);
        child.awaitActive();
        Peers.await(client.close());
        Throwable seen = child.awaitException();
        assertInstanceOf(IOException.class, seen);
        assertTrue(seen.getMessage().contains("reset"), seen::toString);
        child.awaitInactive();
    }

    @OnEachLane
    void lingerEndsAfterItsTimeIfThePeerDoesNotRead() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
        Channel client = Peers.connect(peers.client(new Inbox()).option(ChannelOption.SO_LINGER, 1), server);
        Channel accepted = child.awaitActive();
        // More than fits into the window.
        ChannelFuture write = client.writeAndFlush(bytes(8 * MIB));
        long start = System.nanoTime();
        Peers.await(client.close());
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertTrue(millis >= 900 && millis < PROMPTLY_MILLIS, () -> "closed after " + millis + " ms");
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write));
        accepted.config().setAutoRead(true);
        child.awaitInactive();
    }

    @OnEachLane
    void lingerEndsAfterItsTimeThoughThePeerGoesOnReading() throws Exception {
        Channel server = peers.listen(peers.server(() -> new SlowReader(50)).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(256 * 1024).maxMessagesPerRead(1)));
        Channel client = Peers.connect(peers.client(new Inbox()).option(ChannelOption.SO_LINGER, 1), server);
        ChannelFuture write = client.writeAndFlush(bytes(64 * MIB));
        long start = System.nanoTime();
        Peers.await(client.close());
        assertPrompt(start, "the close");
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write));
    }

    @OnEachLane
    void aPromiseMayCloseTheChannelAbortively() throws Exception {
        Channel server = peers.listen(Inbox::new);
        for (int round = 0; round < 20; round++) {
            Channel client = Peers.connect(peers.client(new Inbox()).option(ChannelOption.SO_LINGER, 0), server);
            client.eventLoop().execute(() -> {
                client.write(bytes(100_000)).addListener(ChannelFutureListener.CLOSE);
                for (int i = 0; i < 20; i++) {
                    client.write(bytes(i % 2 == 0 ? 100 : 20_000));
                }
                client.flush();
            });
            Peers.await(client.closeFuture());
        }
        // The loop has survived.
        Peers.await(peers.connect(server, new Inbox()).close());
    }

    /** A kernel's socket takes its bytes at once. */
    @OnEachLane(linksOnly = true)
    void theFirstOfSendsThatCompleteTogetherMayCloseTheChannelAbortively() throws Exception {
        Channel server = listenForRendezvous();
        for (int round = 0; round < 3; round++) {
            Channel client = Peers.connect(peers.client(new Inbox()).option(ChannelOption.SO_LINGER, 0), server);
            List<ChannelFuture> writes = new ArrayList<>();
            Peers.await(client.eventLoop().submit(() -> {
                writes.add(client.write(direct(RENDEZVOUS)).addListener(ChannelFutureListener.CLOSE));
                // Done before the first one, and reported with it.
                writes.add(client.write(direct(20_000)));
                writes.add(client.write(direct(20_000)));
                client.flush();
                assertFalse(hasRendezvous() && writes.get(0).isDone());
            }));
            Peers.await(writes.get(0));
            Peers.await(client.closeFuture());
            assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(writes.get(2)));
        }
        // The loop has survived.
        Peers.await(peers.connect(server, new Inbox()).close());
    }

    @OnEachLane
    void aWriteThatThrowsEndsTheOutputAndNotTheLoopThoughASendIsUnderWay() throws Exception {
        Channel server = listenForRendezvous();
        for (int round = 0; round < 3; round++) {
            Channel client = peers.connect(server, new Inbox());
            ByteBuf released = direct(100);
            List<ChannelFuture> writes = new ArrayList<>();
            Peers.await(client.eventLoop().submit(() -> {
                writes.add(client.write(direct(RENDEZVOUS)));
                writes.add(client.write(released));
                released.release();
                client.flush();
            }));
            assertInstanceOf(IOException.class, Peers.awaitFailure(writes.get(1)));
            Peers.await(client.close());
        }
        // The loop has survived.
        Peers.await(peers.connect(server, new Inbox()).close());
    }

    /** Heap buffers are copied when they are written, and so that finds it then. */
    @OnEachLane
    void aBufferThatIsReleasedWhenItIsWrittenFailsItsOwnWriteOnly() throws Exception {
        Inbox inbox = new Inbox();
        Channel client = peers.connect(peers.listen(() -> inbox), new Inbox());
        for (ByteBuf buffer : List.of(Unpooled.buffer(10).writeZero(10), Unpooled.directBuffer(10).writeZero(10))) {
            buffer.release();
            assertInstanceOf(IllegalReferenceCountException.class, Peers.awaitFailure(client.writeAndFlush(buffer)));
        }
        Peers.await(client.writeAndFlush(text("the next one")));
        inbox.awaitText("the next one");
        Peers.await(client.close());
    }

    /** Which earlier releases are told not to use, so that each of their sends is done at once. */
    private static boolean hasRendezvous() {
        // Over RDMA UCX decides by the device when to have one.
        return Lane.current() != Lane.RDMA && Integer.parseInt(Ucx.version().split("\\.")[1]) >= 22;
    }

    /** A server to which a message of {@link #RENDEZVOUS} is under way until it is read. */
    private Channel listenForRendezvous() throws InterruptedException {
        return peers.listen(peers.server(() -> new Inbox() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ((ByteBuf) message).release();
            }
        }).childOption(ChannelOption.SO_RCVBUF, 8 * RENDEZVOUS));
    }

    // ------------------------------------------------------------------------------------------- loops and servers

    @OnEachLane
    void theEndOfAGroupDeliversWhatItsChannelsHaveFlushed() throws Exception {
        List<StreamReader> readers = new ArrayList<>();
        Channel server = peers.listen(() -> {
            StreamReader reader = reader(4 * MIB);
            synchronized (readers) {
                readers.add(reader);
            }
            return reader;
        });
        for (int i = 0; i < 4; i++) {
            Channel client = peers.connect(server, new Inbox());
            // On the loop: the end of a group does not wait for what other threads have handed to it.
            Peers.await(client.eventLoop().submit(() -> client.writeAndFlush(bytes(4 * MIB))));
        }
        long start = System.nanoTime();
        Peers.await(peers.clientGroup.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        assertPrompt(start, "the end of a group");
        synchronized (readers) {
            assertEquals(4, readers.size());
            for (StreamReader reader : readers) {
                reader.ended().get(15, TimeUnit.SECONDS);
            }
        }
    }

    @OnEachLane
    void aServersPortCanBeBoundAgainAtOnceThoughItHasHadConnections() throws Exception {
        Inbox[] child = new Inbox[1];
        Channel first = peers.listen(() -> child[0] = new Inbox());
        Channel alive = peers.connect(first, new Inbox());
        Channel aliveChild = child[0].awaitActive();
        Channel gone = peers.connect(first, new Inbox());
        // The side that closes first leaves its address in TIME_WAIT.
        Peers.await(child[0].awaitActive().close());
        Peers.await(gone.closeFuture());
        Peers.await(first.close());
        Channel second = Peers.await(peers.server(Inbox::new).bind(first.localAddress())).channel();
        Peers.await(peers.connect(second, new Inbox()).close());
        Peers.await(aliveChild.close());
        Peers.await(alive.closeFuture());
    }

    @OnEachLane
    void connectionsOutliveTheirServerChannel() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        Channel client = peers.connect(server, new Inbox());
        child.awaitActive();
        Peers.await(server.close());
        client.writeAndFlush(text("still here"));
        Peers.await(client.close());
        child.awaitInactive();
        assertEquals("still here", child.text());
    }

    @OnEachLane
    void aChildThatTheServerDropsUnregisteredFailsItsClientsConnect() throws Exception {
        Channel server = peers.listen(peers.server(Inbox::new).handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ((Channel) message).unsafe().closeForcibly();
            }
        }));
        long start = System.nanoTime();
        Throwable failure = Peers.awaitFailure(peers.client(new Inbox()).connect(server.localAddress()));
        assertInstanceOf(IOException.class, failure);
        assertPrompt(start, "the rejection");
    }

    @OnEachLane
    void aCloseEndsAConnectThatIsUnderWay() throws Exception {
        Channel server = peers.listen(peers.server(Inbox::new).option(ChannelOption.AUTO_READ, false));
        ChannelFuture connect = peers.client(new Inbox()).connect(server.localAddress());
        Peers.await(connect.channel().close());
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(connect));
    }

    private static void assertPrompt(long startNanos, String what) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        assertTrue(millis < PROMPTLY_MILLIS, () -> what + " took " + millis + " ms");
    }

    private static StreamReader reader(long length) {
        return new StreamReader(SEED, length, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
    }

    private static ByteBuf bytes(int length) {
        return Unpooled.wrappedBuffer(new SeededBytes(SEED).at(0, length));
    }

    private static ByteBuf direct(int length) {
        return Unpooled.directBuffer(length).writeBytes(new SeededBytes(SEED).at(0, length));
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }
}
