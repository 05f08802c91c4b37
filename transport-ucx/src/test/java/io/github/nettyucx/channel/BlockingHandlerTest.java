// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.ProgressEngine;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A handler that blocks holds up the channels of its own loop, for so long; nobody else, and nothing is lost. */
class BlockingHandlerTest {

    private static final int SECONDS = 15;
    private static final int BLOCK = -1;
    private static final int QUESTIONS = 200;
    private static final int LATER = 1000;
    private static final int NEWCOMERS = 5;
    private static final int MOST_NEWCOMERS = 25;
    private static final int TURNS_BEFORE = 8;
    /** For some turns less than these, a loop that has begun a handshake looks at its sockets in each of them. */
    private static final int TURNS_AFTER_HANDSHAKE = 300;
    private static final int SLOW_MILLIS = 1;

    private final CountDownLatch blocked = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @OnEachLane
    void nobodyElseIsHeldUp() throws Exception {
        assertHoldsUpItsOwnLoopOnly(TestLoops.newGroup(1), TestLoops.newGroup(2), TestLoops.newGroup(2),
                UcxServerSocketChannel.class, UcxSocketChannel.class);
    }

    @OnEachLane
    void norIsAnybodyWithNio() throws Exception {
        assertHoldsUpItsOwnLoopOnly(new NioEventLoopGroup(1), new NioEventLoopGroup(2), new NioEventLoopGroup(2),
                NioServerSocketChannel.class, NioSocketChannel.class);
    }

    /** A loop with links looks at its sockets now and then only, but not after so many turns that are long. */
    @OnEachLane
    @DisabledIfSystemProperty(named = TestLoops.PROPERTY, matches = ".+", disabledReason = "Netty's loops run tasks for"
            + " 100 ms or more before they make a turn, and so 300 turns take longer than anybody waits")
    void aLoopThatIsFullOfTasksTakesNewConnectionsSoon() throws Exception {
        BlockingQueue<Integer> accepted = new LinkedBlockingQueue<>();
        AtomicInteger turn = new AtomicInteger();
        try (Peers peers = new Peers()) {
            ProgressEngine engine = engine(peers);
            UcxServerSocketChannel server = peers.listen(() -> {
                accepted.add(engine.turn());
                return new ChannelInboundHandlerAdapter();
            });
            peers.connect(server, new ChannelInboundHandlerAdapter());
            accepted.take();
            server.eventLoop().execute(new Runnable() {
                @Override
                public void run() {
                    turn.set(engine.turn());
                    if (server.isOpen()) {
                        server.eventLoop().execute(this);
                    }
                }
            });
            assertAcceptsSoon(server, accepted, turn);
            Peers.await(server.close());
        }
    }

    /** Two that always have a question under way leave no turn without work, in which a loop could sleep. */
    @OnEachLane
    void norAfterTurnsThatAreLongBecauseOfHandlers() throws Exception {
        BlockingQueue<Integer> accepted = new LinkedBlockingQueue<>();
        AtomicInteger turn = new AtomicInteger();
        try (Peers peers = new Peers()) {
            ProgressEngine engine = engine(peers);
            UcxServerSocketChannel server = peers.listen(() -> {
                accepted.add(engine.turn());
                return new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) throws InterruptedException {
                        turn.set(engine.turn());
                        // What is tested: a handler that takes long. Nothing waits for something in this way.
                        Thread.sleep(SLOW_MILLIS);
                        context.writeAndFlush(message);
                    }
                };
            });
            List<Channel> clients = List.of(peers.connect(server, new AsksAgain()), peers.connect(server, new AsksAgain()));
            for (Channel client : clients) {
                accepted.take();
                Peers.await(client.writeAndFlush(Unpooled.copyInt(1)));
            }
            assertAcceptsSoon(server, accepted, turn);
            for (Channel client : clients) {
                Peers.await(client.close());
            }
            Peers.await(server.close());
        }
    }

    private static ProgressEngine engine(Peers peers) throws Exception {
        return peers.serverGroup.submit(() -> TestLoops.driver(TestLoops.first(peers.serverGroup)).engine()).get();
    }

    /**
     * @param accepted the turn of each accept
     * @param turn     the loop's, at this moment
     */
    private static void assertAcceptsSoon(UcxServerSocketChannel server, BlockingQueue<Integer> accepted,
                                          AtomicInteger turn) throws Exception {
        List<Integer> turns = new ArrayList<>();
        List<RawPeer> newcomers = new ArrayList<>();
        try {
            while (turns.size() < NEWCOMERS || !isSoon(turns) && turns.size() < MOST_NEWCOMERS) {
                int last = turn.get();
                Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the loop makes no turns",
                        () -> turn.get() - last >= TURNS_AFTER_HANDSHAKE);
                RawPeer newcomer = new RawPeer();
                newcomers.add(newcomer);
                newcomer.connect(server.localAddress());
                int before = turn.get();
                Integer after = accepted.poll(SECONDS, TimeUnit.SECONDS);
                assertNotNull(after, "not accepted");
                turns.add(after - before);
            }
        } finally {
            for (RawPeer newcomer : newcomers) {
                newcomer.close();
            }
        }
        assertTrue(isSoon(turns), () -> "accepted after turns: " + turns);
    }

    /** Not each of them: the kernel can have a connection wait in its own queues. */
    private static boolean isSoon(List<Integer> turns) {
        return turns.stream().sorted().toList().get(turns.size() / 2) <= TURNS_BEFORE;
    }

    private void assertHoldsUpItsOwnLoopOnly(EventLoopGroup accepting, EventLoopGroup serving, EventLoopGroup asking,
                                             Class<? extends ServerChannel> serverType,
                                             Class<? extends Channel> clientType) throws Exception {
        try {
            Channel server = new ServerBootstrap().group(accepting, serving).channel(serverType)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel child) {
                            child.pipeline().addLast(new Answers());
                        }
                    }).bind(Peers.loopback(0)).sync().channel();
            // The loops of a group take turns.
            Client held = new Client(asking, clientType, server);
            Client other = new Client(asking, clientType, server);
            held.ask(1);
            assertEquals(1, held.answer());
            held.ask(BLOCK);
            assertTrue(blocked.await(SECONDS, TimeUnit.SECONDS));
            for (int i = 0; i < LATER; i++) {
                held.ask(i);
            }
            // All while the handler blocks: nothing but this test ends that.
            for (int i = 0; i < QUESTIONS; i++) {
                other.ask(i);
                assertEquals(i, other.answer());
            }
            // One of them is the blocked loop's. The kernel connects it; the handshake waits until the loop comes to it.
            Bootstrap late = new Bootstrap().group(asking).channel(clientType);
            ChannelFuture first =
                    late.clone().handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress());
            ChannelFuture second =
                    late.clone().handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress());
            awaitOne(first, second);
            assertNull(held.answers.peek(), "answered by a loop that is blocked");
            released.countDown();
            assertEquals(BLOCK, held.answer());
            for (int i = 0; i < LATER; i++) {
                assertEquals(i, held.answer());
            }
            Peers.await(first);
            Peers.await(second);
            Peers.await(held.channel.close());
        } finally {
            released.countDown();
            for (EventLoopGroup group : new EventLoopGroup[] {accepting, serving, asking}) {
                assertTrue(group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS)
                        .awaitUninterruptibly(2 * SECONDS, TimeUnit.SECONDS), "loops do not end");
            }
        }
    }

    private static void awaitOne(ChannelFuture first, ChannelFuture second) throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the loop that is not blocked accepts nobody",
                () -> first.isSuccess() || second.isSuccess());
    }

    private final class Answers extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) throws InterruptedException {
            ByteBuf buffer = (ByteBuf) message;
            if (buffer.readableBytes() >= Integer.BYTES && buffer.getInt(buffer.readerIndex()) == BLOCK) {
                blocked.countDown();
                released.await();
            }
            context.writeAndFlush(message);
        }
    }

    /** Answers each answer with the same question. */
    private static final class AsksAgain extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Client extends ChannelInboundHandlerAdapter {

        final BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();
        final Channel channel;
        private final ByteBuf rest = Unpooled.buffer();

        Client(EventLoopGroup group, Class<? extends Channel> type, Channel server) throws InterruptedException {
            channel = Peers.await(new Bootstrap().group(group).channel(type).handler(this)
                    .connect(server.localAddress())).channel();
        }

        void ask(int question) {
            channel.writeAndFlush(Unpooled.copyInt(question));
        }

        int answer() throws InterruptedException {
            Integer answer = answers.poll(SECONDS, TimeUnit.SECONDS);
            assertNotNull(answer, "no answer");
            return answer;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            rest.writeBytes(buffer);
            buffer.release();
            while (rest.isReadable(Integer.BYTES)) {
                answers.add(rest.readInt());
            }
            rest.discardReadBytes();
        }
    }
}
