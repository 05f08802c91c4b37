// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a channel is told of the end of one direction, in the order in which Netty's epoll transport tells it. */
class HalfCloseTest {

    private static final long SECONDS = 15;
    private static final long SEED = 4711;
    /** More than goes before the peer reads. */
    private static final int LARGE = 32 << 20;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** Notes what happens, up to an event. */
    private static final class Events extends ChannelInboundHandlerAdapter {

        final CompletableFuture<UcxSocketChannel> active = new CompletableFuture<>();
        private final Object last;
        private final CompletableFuture<List<String>> seen = new CompletableFuture<>();
        private final List<String> events = new ArrayList<>();

        /** @param last the user event, or "inactive" */
        Events(Object last) {
            this.last = last;
        }

        private void add(String name, Object event) {
            events.add(name);
            if (event == last) {
                seen.complete(List.copyOf(events));
            }
        }

        List<String> await() throws Exception {
            return seen.get(SECONDS, TimeUnit.SECONDS);
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            active.complete((UcxSocketChannel) context.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            add("read " + bytes.toString(StandardCharsets.ISO_8859_1), bytes);
            bytes.release();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            // Told once more at the end of the stream, with nothing read: as often as a transport has looked.
            if (!events.contains("read complete")) {
                add("read complete", null);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            add(event.getClass().getSimpleName(), event);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            add("inactive", "inactive");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            add(cause.toString(), null);
        }
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    @OnEachLane
    void thePeersEndIsToldAfterItsBytesAndTheOutputStaysOpen() throws Exception {
        Events child = new Events(ChannelInputShutdownReadComplete.INSTANCE);
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        Inbox inbox = new Inbox();
        UcxSocketChannel client = peers.connect(server, inbox);
        client.writeAndFlush(text("question"));
        Peers.await(client.shutdownOutput());
        assertEquals(List.of("read question", "read complete", "ChannelInputShutdownEvent",
                "ChannelInputShutdownReadComplete"), child.await());
        UcxSocketChannel accepted = child.active.get();
        assertTrue(accepted.isActive() && accepted.isInputShutdown());
        assertFalse(accepted.isOutputShutdown() || accepted.isShutdown());
        Peers.await(accepted.writeAndFlush(text("answer")));
        inbox.awaitText("answer");
        assertFalse(client.isInputShutdown());
        Peers.await(accepted.close());
        inbox.awaitInactive();
        assertEquals(List.of(), inbox.exceptions());
    }

    /** With Netty's own transports the channel stays open until a write fails, and is told the end of its input. */
    @OnEachLane
    void aResetIsTheChannelsEndAlsoWhereHalfClosureIsAllowed() throws Exception {
        Events child = new Events("inactive");
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        UcxSocketChannel client = peers.connect(server, new Inbox());
        child.active.get(SECONDS, TimeUnit.SECONDS);
        client.config().setSoLinger(0);
        Peers.await(client.close());
        assertEquals(List.of("java.net.SocketException: Connection reset by peer", "inactive"), child.await());
        assertFalse(child.active.get().isOpen());
    }

    @OnEachLane
    void thePeersEndIsTheChannelsWhereHalfClosureIsNotAllowed() throws Exception {
        Events child = new Events("inactive");
        UcxSocketChannel client = peers.connect(peers.listen(() -> child), new Inbox());
        client.writeAndFlush(text("question"));
        Peers.await(client.shutdownOutput());
        assertEquals(List.of("read question", "read complete", "inactive"), child.await());
        assertFalse(child.active.get().isOpen());
        Peers.await(client.closeFuture());
    }

    @OnEachLane
    void anInputThatIsShutDownTakesNothingMoreAndIsToldOnce() throws Exception {
        Events child = new Events(ChannelInputShutdownReadComplete.INSTANCE);
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        UcxSocketChannel client = peers.connect(server, new Inbox());
        UcxSocketChannel accepted = child.active.get(SECONDS, TimeUnit.SECONDS);
        Peers.await(accepted.shutdownInput());
        assertTrue(accepted.isInputShutdown());
        Peers.await(client.writeAndFlush(text("unheard")));
        assertEquals(List.of("ChannelInputShutdownReadComplete"), child.await());
        Peers.await(client.shutdownOutput());
        Peers.await(accepted.shutdownInput());
        Peers.await(client.close());
        Peers.await(accepted.close());
        assertFalse(child.events.contains("read unheard"), child.events::toString);
        assertFalse(child.events.contains(ChannelInputShutdownEvent.class.getSimpleName()), child.events::toString);
    }

    /** Whoever else waits for the end must not wait for ever, nor lose it because somebody has changed his mind. */
    @OnEachLane
    void anEndThatWaitsForBytesComesWhateverPromiseItHas() throws Exception {
        for (boolean isVoid : new boolean[] {false, true}) {
            Inbox child = new Inbox();
            Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
            UcxSocketChannel client = (UcxSocketChannel) peers.connect(server, new Inbox());
            Channel accepted = child.awaitActive();
            ChannelFuture[] second = new ChannelFuture[1];
            Peers.await(client.eventLoop().submit(() -> {
                client.writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE));
                ChannelFuture first = client.shutdownOutput(isVoid ? client.voidPromise() : client.newPromise());
                assertFalse(first.isDone(), "nothing waits");
                assertFalse(first.cancel(true));
                second[0] = client.shutdownOutput();
                return null;
            }));
            accepted.config().setAutoRead(true);
            Peers.await(second[0]);
            assertTrue(client.isOutputShutdown());
            client.close();
        }
    }

    @OnEachLane
    void bothDirectionsCanBeShutDownAndTheChannelStaysOpen() throws Exception {
        Events child = new Events(ChannelInputShutdownReadComplete.INSTANCE);
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        UcxSocketChannel client = Peers.connect(
                peers.client(new Inbox()).option(ChannelOption.ALLOW_HALF_CLOSURE, true), server);
        client.writeAndFlush(text("last words"));
        Peers.await(client.shutdown());
        assertTrue(client.isShutdown() && client.isInputShutdown() && client.isOutputShutdown());
        assertTrue(client.isOpen());
        assertEquals("read last words", child.await().getFirst());
        Peers.await(child.active.get().close());
        Peers.await(client.close());
    }

    /** As over a kernel's sockets: what has not been read is not wanted any more, and must not hold up the other side. */
    @OnEachLane
    void bothSidesCanShutDownWhenNeitherHasRead() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
        UcxSocketChannel client = Peers.connect(
                peers.client(new Inbox()).option(ChannelOption.AUTO_READ, false), server);
        UcxSocketChannel accepted = (UcxSocketChannel) child.awaitActive();
        ChannelFuture sent = client.writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE));
        ChannelFuture answered = accepted.writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE));
        // Both have begun to send before either ends.
        Peers.await(client.eventLoop().submit(() -> { }));
        Peers.await(accepted.eventLoop().submit(() -> { }));
        assertFalse(sent.isDone() || answered.isDone(), "nothing waits");
        ChannelFuture near = client.shutdown();
        ChannelFuture far = accepted.shutdown();
        Peers.await(near);
        Peers.await(far);
        Peers.await(sent);
        Peers.await(answered);
        assertTrue(client.isShutdown() && accepted.isShutdown());
        Peers.await(client.close());
        Peers.await(accepted.close());
    }

    @OnEachLane
    void aPeerThatClosesWhenBothDirectionsAreShutDownIsNoError() throws Exception {
        Inbox child = new Inbox();
        Inbox inbox = new Inbox();
        UcxSocketChannel client = peers.connect(peers.listen(() -> child), inbox);
        // In this order the peer is told that nobody reads, and waits for no acknowledgement when it closes.
        Peers.await(client.shutdownInput());
        client.writeAndFlush(text("last words"));
        Peers.await(client.shutdownOutput());
        child.awaitInactive();
        inbox.awaitInactive();
        assertEquals("last words", child.text());
        assertEquals(List.of(), child.exceptions());
        assertEquals(List.of(), inbox.exceptions());
        assertFalse(client.isOpen());
    }

    @OnEachLane
    void norIsItWhenTheInputIsShutDownWhileTheOutputWaitsForItsBytes() throws Exception {
        // More than the window.
        int length = 8 * 1024 * 1024;
        StreamReader child = new StreamReader(SEED, length, StreamReader.Demand.AUTOMATIC, new SplittableRandom(SEED));
        Inbox inbox = new Inbox();
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        Channel server = peers.listen(peers.server(() -> new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(child);
                accepted.complete(channel);
            }
        }).childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.SO_RCVBUF, 64 * 1024));
        UcxSocketChannel client = peers.connect(server, inbox);
        Peers.await(client.eventLoop().submit(() -> {
            client.writeAndFlush(Unpooled.wrappedBuffer(new SeededBytes(SEED).at(0, length)));
            assertFalse(client.shutdownOutput().isDone());
            client.shutdownInput();
        }));
        accepted.get(SECONDS, TimeUnit.SECONDS).config().setAutoRead(true);
        child.ended().get(SECONDS, TimeUnit.SECONDS);
        inbox.awaitInactive();
        assertEquals(List.of(), inbox.exceptions());
    }
}
