// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What an application still gets, and is told, when its peer has gone. */
class PeerGoneTest {

    private static final long SECONDS = 15;
    private static final int WINDOW = 64 * 1024;
    /** Far more than any buffer between the two takes. */
    private static final int MUCH = 64 * 1024 * 1024;
    private static final int CLOSE_MILLIS = 1000;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    private static ByteBuf zeros(int length) {
        return Unpooled.directBuffer(length, length).writeZero(length);
    }

    @OnEachLane
    void anEndOfTheOutputThatWaitsForBytesFailsOnceAndHoldsUpNobody() throws Exception {
        Logger log = (Logger) LoggerFactory.getLogger(IoDriver.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        log.addAppender(logged);
        try {
            Inbox child = new Inbox();
            Queue<Inbox> children = new ConcurrentLinkedQueue<>(List.of(child, new Inbox()));
            Channel server = peers.listen(peers.server(children::remove).childOption(ChannelOption.AUTO_READ, false)
                    .childOption(ChannelOption.SO_RCVBUF, WINDOW).childOption(ChannelOption.SO_LINGER, 0));
            UcxSocketChannel client = peers.connect(server, new Inbox());
            child.awaitActive();
            UcxSocketChannel neighbour = peers.connect(server, new Inbox());
            ChannelFuture write = client.writeAndFlush(zeros(MUCH));
            ChannelFuture end = client.shutdownOutput();
            Peers.await(child.awaitActive().close());
            assertInstanceOf(IOException.class, Peers.awaitFailure(write));
            assertInstanceOf(IOException.class, Peers.awaitFailure(end));
            Peers.await(neighbour.writeAndFlush(bytes("still there")));
        } finally {
            log.detachAppender(logged);
        }
        // After a failure of its own the loop rests for a second, and says so.
        assertEquals(List.of(), List.copyOf(logged.list));
    }

    /** Is active when its answer, for which it waits for no question, has been sent. */
    private static Inbox answering() {
        return new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(bytes("the answer")).addListener(_ -> super.channelActive(context));
            }
        };
    }

    /** A client that can write nothing more, and has not read what the server sent before it went. */
    private UcxSocketChannel lostWithAnAnswerToRead(Inbox inbox) throws Exception {
        Inbox child = answering();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.SO_LINGER, 0));
        UcxSocketChannel client = Peers.connect(
                peers.client(inbox).option(ChannelOption.AUTO_READ, false), server);
        Peers.await(child.awaitActive().close());
        writeUntilItFails(client);
        return client;
    }

    /** Over UCX's TCP the reset of the control socket may overtake what the peer has sent. */
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET})
    void theOutputOfALostConnectionCannotBeEndedThoughThereIsStillSomethingToBeRead() throws Exception {
        Inbox inbox = new Inbox();
        UcxSocketChannel client = lostWithAnAnswerToRead(inbox);
        assertTrue(client.isOpen());
        assertInstanceOf(IOException.class, Peers.awaitFailure(client.shutdownOutput()));
        client.config().setAutoRead(true);
        inbox.awaitText("the answer");
        inbox.awaitInactive();
    }

    /** The peer has closed in good order, but not taken everything. Something of its is still to be read. */
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET})
    void theEndOfAnOutputFailsWithTheBytesBeforeIt() throws Exception {
        Inbox child = answering();
        Inbox inbox = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW));
        UcxSocketChannel client = Peers.connect(peers.client(inbox).option(ChannelOption.AUTO_READ, false), server);
        ChannelFuture write = client.writeAndFlush(zeros(MUCH));
        ChannelFuture end = client.shutdownOutput();
        Peers.await(child.awaitActive().close());
        assertInstanceOf(IOException.class, Peers.awaitFailure(write));
        assertInstanceOf(IOException.class, Peers.awaitFailure(end));
        client.config().setAutoRead(true);
        inbox.awaitText("the answer");
        inbox.awaitInactive();
    }

    /** What fails makes room for more: then it would write for as long as there is something to be read. */
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET})
    void whoWritesForAsLongAsHeMayComesToAnEnd() throws Exception {
        Inbox inbox = new Inbox();
        UcxSocketChannel client = lostWithAnAnswerToRead(inbox);
        assertTrue(client.eventLoop().submit(() -> {
            client.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1024, 2048));
            int writes = 0;
            while (client.isActive() && client.isWritable() && writes < 1000) {
                client.writeAndFlush(bytes("more"));
                writes++;
            }
            return writes < 1000;
        }).get(), "it goes on and on");
        assertInstanceOf(IOException.class, Peers.awaitFailure(client.writeAndFlush(bytes("last"))));
        client.config().setAutoRead(true);
        inbox.awaitText("the answer");
        inbox.awaitInactive();
    }

    /** What the peer sent last has not been taken then: whether it has ended in order is not known yet. */
    @OnEachLane
    void anOutputThatIsEndedInTheTurnInWhichThePeerGoesHasItsPromiseDone() throws Exception {
        CompletableFuture<UcxSocketChannel> closed = new CompletableFuture<>();
        Inbox child = new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(bytes("the answer"));
                context.close();
                closed.complete((UcxSocketChannel) context.channel());
            }
        };
        Channel server = peers.listen(peers.server(() -> child)
                .childOption(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 100));
        CompletableFuture<ChannelFuture> ended = new CompletableFuture<>();
        Inbox inbox = new Inbox() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                super.channelRead(context, message);
                UcxSocketChannel peer = closed.orTimeout(SECONDS, TimeUnit.SECONDS).join();
                // It gives up telling a side that does not listen.
                awaitEnd(peer);
                // Those after the first have the transport look after the peer.
                context.writeAndFlush(bytes("too late"));
                context.writeAndFlush(bytes("too late"));
                ended.complete(((UcxSocketChannel) context.channel()).shutdownOutput());
            }
        };
        Peers.connect(peers.client(inbox).option(ChannelOption.ALLOW_HALF_CLOSURE, true), server);
        assertTrue(ended.get(SECONDS, TimeUnit.SECONDS).await(SECONDS, TimeUnit.SECONDS), "for ever under way");
        inbox.awaitInactive();
    }

    @OnEachLane
    void anApplicationThatWritesWheneverItMayDoesNotHoldUpItsLoop() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW).childOption(ChannelOption.SO_LINGER, 0));
        Inbox inbox = new Inbox() {
            @Override
            public void channelWritabilityChanged(ChannelHandlerContext context) {
                if (context.channel().isWritable()) {
                    context.writeAndFlush(zeros(MUCH / 64));
                }
            }
        };
        UcxSocketChannel client = Peers.connect(peers.client(inbox).option(ChannelOption.AUTO_READ, false), server);
        ChannelFuture write = client.writeAndFlush(zeros(MUCH));
        Peers.await(child.awaitActive().writeAndFlush(bytes("unread")));
        Peers.await(child.awaitActive().close());
        assertInstanceOf(IOException.class, Peers.awaitFailure(write));
        Peers.await(client.eventLoop().submit(() -> { }));
        client.config().setAutoRead(true);
        inbox.awaitInactive();
    }

    private static void awaitEnd(UcxSocketChannel channel) {
        try {
            Eventually.await(SECONDS * 1000, () -> "the end of " + channel, channel::isOver);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /**
     * A write that has failed.
     *
     * @param begunNanos when it was begun, by {@link System#nanoTime}
     * @param wasActive whether the channel was active when it failed
     */
    private record FailedWrite(long begunNanos, Throwable cause, boolean wasActive) { }

    /** The first write that fails. What is noted of it is noted by the loop: this thread may come to look much later. */
    private static FailedWrite writeUntilItFails(Channel channel) throws Exception {
        for (long start = System.nanoTime(); System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS);) {
            CompletableFuture<FailedWrite> done = new CompletableFuture<>();
            channel.eventLoop().execute(() -> {
                long begun = System.nanoTime();
                channel.writeAndFlush(bytes("too late")).addListener(late ->
                        done.complete(new FailedWrite(begun, late.cause(), channel.isActive())));
            });
            FailedWrite write = done.get(SECONDS, TimeUnit.SECONDS);
            if (write.cause() != null) {
                assertInstanceOf(IOException.class, write.cause());
                return write;
            }
        }
        throw new AssertionError("no write fails within " + SECONDS + " s");
    }

    @OnEachLane(linksOnly = true)
    void aLateWriteFailsAndWhatThePeerSaidBeforeItWentIsStillRead() throws Exception {
        Channel server = peers.listen(() -> new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.writeAndFlush(bytes("the answer"));
                context.close();
            }
        });
        Inbox inbox = new Inbox();
        UcxSocketChannel client = Peers.connect(
                peers.client(inbox).option(ChannelOption.AUTO_READ, false), server);
        // The peer has closed when its end has been acknowledged; then nothing can be sent to it any more.
        assertTrue(writeUntilItFails(client).wasActive(), "closed before its input was read");
        client.config().setAutoRead(true);
        inbox.awaitText("the answer");
        inbox.awaitInactive();
    }

    /** Its channel must not stay for ever for what nobody reads. Over UCX's TCP the reset may overtake what the peer has sent. */
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET})
    void anApplicationThatDoesNotReadAgainHasTheTimeOfAClose() throws Exception {
        Inbox child = answering();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.SO_LINGER, 0));
        Inbox inbox = new Inbox();
        UcxSocketChannel client = Peers.connect(peers.client(inbox).option(ChannelOption.AUTO_READ, false)
                .option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, CLOSE_MILLIS), server);
        Peers.await(child.awaitActive().close());
        CompletableFuture<Long> closed = new CompletableFuture<>();
        client.closeFuture().addListener(_ -> closed.complete(System.nanoTime()));
        FailedWrite failed = writeUntilItFails(client);
        assertTrue(failed.wasActive(), "closed before its input could be read");
        // A later write changes nothing.
        assertInstanceOf(IOException.class, Peers.awaitFailure(client.writeAndFlush(bytes("later still"))));
        // From the begin of that write, which is no later than that of the channel's time.
        long millis = TimeUnit.NANOSECONDS.toMillis(closed.get(SECONDS, TimeUnit.SECONDS) - failed.begunNanos());
        assertTrue(millis >= CLOSE_MILLIS - 10 && millis < 9000, () -> "closed after " + millis + " ms");
        inbox.awaitInactive();
        assertEquals("", inbox.text());
    }

    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET})
    void withoutAutoCloseItIsNotClosedForThat() throws Exception {
        Inbox child = answering();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.SO_LINGER, 0));
        Inbox inbox = new Inbox();
        UcxSocketChannel client = Peers.connect(peers.client(inbox).option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.AUTO_CLOSE, false).option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 200), server);
        Peers.await(child.awaitActive().close());
        writeUntilItFails(client);
        assertFalse(client.closeFuture().await(600), "closed though AUTO_CLOSE is off");
        client.config().setAutoRead(true);
        inbox.awaitText("the answer");
        inbox.awaitInactive();
    }

    /** As an application does that reads again when its writes are done. */
    @OnEachLane
    void writesThatWaitFailThoughNobodyReadsWhatCameBefore() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, WINDOW).childOption(ChannelOption.SO_LINGER, 0));
        Inbox inbox = new Inbox();
        UcxSocketChannel client = Peers.connect(peers.client(inbox).option(ChannelOption.AUTO_READ, false), server);
        ChannelFuture write = client.writeAndFlush(zeros(MUCH));
        Peers.await(child.awaitActive().writeAndFlush(bytes("unread")));
        Peers.await(child.awaitActive().close());
        assertInstanceOf(IOException.class, Peers.awaitFailure(write));
        client.config().setAutoRead(true);
        inbox.awaitInactive();
    }

    @OnEachLane
    void whatCameBeforeAResetIsReadAsTheApplicationAsksForIt() throws Exception {
        int pieces = 8;
        BlockingQueue<String> read = new ArrayBlockingQueue<>(2 * pieces);
        Inbox inbox = new Inbox() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                read.add(((ByteBuf) message).toString(StandardCharsets.ISO_8859_1));
                ((ByteBuf) message).release();
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
                read.add("complete");
            }
        };
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.SO_LINGER, 0));
        @SuppressWarnings("deprecation")
        UcxSocketChannel client = Peers.connect(peers.client(inbox).option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.MAX_MESSAGES_PER_READ, 1)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(1)), server);
        Peers.await(child.awaitActive().writeAndFlush(bytes("abcdefgh")));
        client.read();
        assertEquals("a", read.poll(SECONDS, TimeUnit.SECONDS));
        assertEquals("complete", read.poll(SECONDS, TimeUnit.SECONDS));
        Peers.await(child.awaitActive().close());
        for (int i = 1; i < pieces; i++) {
            // Long enough for everything that is there to be handed up, if it were.
            Peers.await(client.eventLoop().schedule(() -> { }, 20, TimeUnit.MILLISECONDS));
            assertNull(read.peek(), "was read without being asked for");
            client.read();
            assertEquals(String.valueOf((char) ('a' + i)), read.poll(SECONDS, TimeUnit.SECONDS));
            assertEquals("complete", read.poll(SECONDS, TimeUnit.SECONDS));
        }
        assertInstanceOf(IOException.class, inbox.awaitException());
        inbox.awaitInactive();
    }
}
