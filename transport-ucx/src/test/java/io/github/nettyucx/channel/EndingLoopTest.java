// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.channel.LoopOperation.Target;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Event loops that end, or have ended, while channels of theirs are used: everything that an application waits for is
 * done, nothing is left, and whoever has another loop goes on.
 */
class EndingLoopTest {

    /** More than the 15 s that a loop gives its channels at its end, on Netty 4.2. */
    private static final int SECONDS = 25;
    /** A connect that the server cannot take, because the child's loop has ended, fails before any timeout, 10 s or more. */
    private static final long PROMPTLY_MILLIS = 8000;
    /** Of clients whose peers do not read: the end of their loop waits for it. */
    private static final int CLOSE_TIMEOUT_MILLIS = 1000;

    private LeakWatch leaks;
    private Peers peers;

    @BeforeEach
    void startLoops() {
        leaks = new LeakWatch();
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
        leaks.assertNothingLeft();
    }

    // ------------------------------------------------------------------------------------------- operations

    @OnEachLane
    void afterTheEndOfALoopItsChannelsAnswerAsWithNio() throws Exception {
        Map<LoopOperation, String> expected =
                afterTheEnd(NioEventLoopGroup::new, NioServerSocketChannel.class, NioSocketChannel.class);
        Map<LoopOperation, String> actual =
                afterTheEnd(() -> TestLoops.newGroup(1), UcxServerSocketChannel.class, UcxSocketChannel.class);
        System.out.println(actual);
        assertEquals(expected, actual);
        assertFalse(actual.containsValue("hangs"), actual::toString);
    }

    private Map<LoopOperation, String> afterTheEnd(Supplier<EventLoopGroup> groups,
                                                   Class<? extends ServerChannel> serverType,
                                                   Class<? extends Channel> clientType) throws Exception {
        EventLoopGroup serverGroup = groups.get();
        EventLoopGroup clientGroup = groups.get();
        Map<LoopOperation, String> outcomes = new EnumMap<>(LoopOperation.class);
        try {
            Channel server = listen(serverGroup, serverType);
            SocketChannel channel = connect(clientGroup, clientType, server);
            EventLoop loop = channel.eventLoop();
            if (!(channel instanceof UcxSocketChannel)) {
                // A loop of Netty 4.2 does not close its channels if it is told to end while it runs tasks.
                Peers.await(channel.close());
            }
            end(clientGroup);
            assertTrue(channel.closeFuture().isDone(), "the end of the loop has not closed the channel");
            Target target = new Target(channel, loop, server.localAddress(), clientType, serverType);
            for (LoopOperation operation : LoopOperation.values()) {
                outcomes.put(operation, operation.outcome(target, SECONDS));
            }
        } finally {
            end(clientGroup);
            end(serverGroup);
        }
        return outcomes;
    }

    @OnEachLane
    void whatIsAskedOfALoopThatIsToldToEndIsDone() throws Exception {
        for (LoopOperation operation : LoopOperation.values()) {
            EventLoopGroup group = TestLoops.newGroup(1);
            Channel server = listen(peers.serverGroup, UcxServerSocketChannel.class);
            SocketChannel channel = connect(group, UcxSocketChannel.class, server);
            EventLoop loop = channel.eventLoop();
            CountDownLatch held = new CountDownLatch(1);
            loop.execute(() -> awaitQuietly(held));
            Future<?> ended = group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
            Future<?> write = channel.writeAndFlush(channel.alloc().directBuffer(100).writeZero(100));
            Future<?> promise = operation.start(new Target(channel, loop, server.localAddress(),
                    UcxSocketChannel.class, UcxServerSocketChannel.class));
            held.countDown();
            assertDone(operation + " after the loop was told to end", promise, write, ended, channel.closeFuture());
            if (promise instanceof ChannelFuture future) {
                assertDone("the channel of " + operation, future.channel().closeFuture());
            }
            Peers.await(server.close());
        }
    }

    /** Netty's loops take tasks until after their last turn: nobody looks at what those begin. */
    @OnEachLane
    void whatIsAskedOfALoopAfterItsLastTurnIsDone() throws Exception {
        EventLoopGroup group = TestLoops.newGroup(1);
        SingleThreadEventExecutor executor = (SingleThreadEventExecutor) TestLoops.first(group);
        EventLoop loop = (EventLoop) executor;
        IoDriver driver = TestLoops.driver(loop);
        Channel server = listen(peers.serverGroup, UcxServerSocketChannel.class);
        ServerBootstrap other = new ServerBootstrap().group(peers.serverGroup, group)
                .channel(UcxServerSocketChannel.class).childHandler(new Discarding());
        Channel childrensServer = Peers.await(other.bind(Peers.loopback(0))).channel();
        Peers.await(loop.submit(() -> { }));
        CountDownLatch ending = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        executor.addShutdownHook(() -> {
            ending.countDown();
            awaitQuietly(held);
        });
        Future<?> ended = group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        assertTrue(ending.await(SECONDS, TimeUnit.SECONDS), "the hook does not run");
        UcxSocketChannel registered = new UcxSocketChannel();
        registered.config().setAllocator(leaks.allocator);
        ChannelFuture registration = loop.register(registered);
        ChannelFuture connect = new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .handler(new Discarding()).connect(server.localAddress());
        ChannelFuture bind = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new Discarding()).bind(Peers.loopback(0));
        Future<?> write = registered.write(registered.alloc().directBuffer(100).writeZero(100));
        // The server gives it to the ending loop.
        ChannelFuture client = new Bootstrap().group(peers.clientGroup).channel(UcxSocketChannel.class)
                .handler(new Discarding()).connect(childrensServer.localAddress());
        Peers.await(peers.serverGroup.submit(() -> { }));
        held.countDown();
        // Not the bind: Netty's own bootstrap forgets its promise if the loop takes the registration and no task after it.
        assertDone("after the last turn", registration, connect, write, ended);
        assertDone("channels of the last moment", registered.closeFuture(), connect.channel().closeFuture(),
                bind.channel().closeFuture(), client);
        if (client.isSuccess()) {
            assertDone("the connection of a child of the last moment", client.channel().closeFuture());
        }
        assertEquals(0, driver.channelCount(), "channels that the loop still has");
        assertServes(server);
    }

    @OnEachLane
    void aLoopThatDiesOfAnErrorEndsItsChannels() throws Exception {
        EventLoopGroup group = TestLoops.newGroup(1);
        List<String> told = new CopyOnWriteArrayList<>();
        Channel server = listen(peers.serverGroup, UcxServerSocketChannel.class, true);
        Channel listening = listen(group, UcxServerSocketChannel.class);
        SocketChannel channel = connect(group, UcxSocketChannel.class, server);
        SocketChannel closing = connect(group, UcxSocketChannel.class, server);
        channel.pipeline().addLast(new Telling(told));
        closing.pipeline().addLast(new Telling(told));
        // More than the peers, who do not read, have room for.
        Future<?> write = LoopOperation.WRITE_MUCH.start(target(channel, server));
        Future<?> unflushed = LoopOperation.WRITE.start(target(channel, server));
        Future<?> lingering = LoopOperation.WRITE_MUCH.start(target(closing, server));
        Future<?> close = closing.close();
        EventLoop loop = channel.eventLoop();
        IoDriver driver = TestLoops.driver(loop);
        Peers.await(loop.submit(() -> {
            driver.engine().schedule(() -> {
                throw new LinkageError("of a test");
            });
            return null;
        }));
        assertDone("after the death of the loop", write, unflushed, lingering, close, channel.closeFuture(),
                closing.closeFuture(), listening.closeFuture(), loop.terminationFuture());
        assertFalse(write.isSuccess() || unflushed.isSuccess() || lingering.isSuccess(), "writes that nobody took");
        assertEquals(List.of("inactive", "inactive", "unregistered", "unregistered"), told.stream().sorted().toList());
        assertServes(server);
    }

    // ------------------------------------------------------------------------------------------- servers

    @OnEachLane
    void aServerGoesOnWhenALoopOfItsChildrenHasEnded() throws Exception {
        EventLoopGroup children = TestLoops.newGroup(2);
        EventLoop first = TestLoops.first(children);
        Map<SocketAddress, EventLoop> loops = new ConcurrentHashMap<>();
        try {
            Channel server = Peers.await(new ServerBootstrap().group(peers.serverGroup, children)
                    .channel(UcxServerSocketChannel.class).childHandler(new ChannelInitializer<>() {

                        @Override
                        protected void initChannel(Channel child) {
                            loops.put(child.remoteAddress(), child.eventLoop());
                            child.pipeline().addLast(new Echo());
                        }
                    }).bind(Peers.loopback(0))).channel();
            assertEquals(8, kept(server, 8, loops, null));
            // Told to end, it still takes what it is given, and closes it; with luck, an answer has gone out before.
            Future<?> ended = first.shutdownGracefully(1, SECONDS, TimeUnit.SECONDS);
            assertEquals(4, kept(server, 8, loops, first), "while the loop ends");
            Peers.await(ended);
            assertEquals(4, kept(server, 8, loops, first), "after the loop has ended");
        } finally {
            end(children);
        }
    }

    /**
     * How many of so many clients, which come one by one, get their answers and stay; the server closes the others.
     *
     * @param loops  has the loop of each of the server's children, by the address of its client
     * @param ending the loop whose children are closed, answered or not
     */
    private int kept(Channel server, int clients, Map<SocketAddress, EventLoop> loops, EventLoop ending) throws Exception {
        int kept = 0;
        for (int i = 0; i < clients; i++) {
            Inbox inbox = new Inbox();
            long start = System.nanoTime();
            ChannelFuture connect = peers.client(inbox).connect(server.localAddress());
            assertTrue(connect.await(SECONDS, TimeUnit.SECONDS), "the connect hangs");
            Channel client = connect.channel();
            if (connect.isSuccess()) {
                SocketAddress address = client.localAddress();
                client.writeAndFlush(client.alloc().directBuffer(1).writeByte('x'));
                Eventually.await(PROMPTLY_MILLIS, () -> "neither served nor closed",
                        () -> !inbox.text().isEmpty() || !client.isOpen());
                if (ending != null && (address == null || loops.remove(address) == ending)) {
                    Eventually.await(PROMPTLY_MILLIS, () -> "left open by a loop that ends", () -> !client.isOpen());
                } else {
                    kept += inbox.text().length();
                }
            }
            assertPrompt(start);
            Peers.await(client.close());
        }
        return kept;
    }

    private static void assertPrompt(long startNanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        assertTrue(millis < PROMPTLY_MILLIS, () -> "neither served nor closed after " + millis + " ms");
    }

    @OnEachLane
    void connectionsOutliveTheLoopOfTheirServer() throws Exception {
        EventLoopGroup acceptors = TestLoops.newGroup(1);
        Channel server = Peers.await(new ServerBootstrap().group(acceptors, peers.serverGroup)
                .channel(UcxServerSocketChannel.class).childHandler(new Echo()).bind(Peers.loopback(0))).channel();
        Inbox inbox = new Inbox();
        Channel client = peers.connect(server, inbox);
        end(acceptors);
        client.writeAndFlush(client.alloc().directBuffer(1).writeByte('x'));
        inbox.awaitText("x");
        long start = System.nanoTime();
        Peers.awaitFailure(peers.client(new Inbox()).connect(server.localAddress()));
        assertPrompt(start);
        Peers.await(client.close());
    }

    // ------------------------------------------------------------------------------------------- helpers

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    @ChannelHandler.Sharable
    private static final class Discarding extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ((ByteBuf) message).release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            // The other side ends as it likes.
        }
    }

    private static final class Telling extends ChannelInboundHandlerAdapter {

        private final List<String> told;

        Telling(List<String> told) {
            this.told = told;
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            told.add("inactive");
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            told.add("unregistered");
        }
    }

    private Channel listen(EventLoopGroup group, Class<? extends ServerChannel> type) throws InterruptedException {
        return listen(group, type, false);
    }

    private Channel listen(EventLoopGroup group, Class<? extends ServerChannel> type, boolean paused)
            throws InterruptedException {
        return Peers.await(new ServerBootstrap().group(group).channel(type)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(ChannelOption.AUTO_READ, !paused)
                .childHandler(new Discarding()).bind(Peers.loopback(0))).channel();
    }

    private SocketChannel connect(EventLoopGroup group, Class<? extends Channel> type, Channel server)
            throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(type)
                .option(ChannelOption.ALLOCATOR, leaks.allocator).handler(new Discarding());
        if (type == UcxSocketChannel.class) {
            bootstrap.option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, CLOSE_TIMEOUT_MILLIS);
        }
        return (SocketChannel) Peers.await(bootstrap.connect(server.localAddress())).channel();
    }

    private static Target target(SocketChannel channel, Channel server) {
        return new Target(channel, channel.eventLoop(), server.localAddress(), UcxSocketChannel.class,
                UcxServerSocketChannel.class);
    }

    private void assertServes(Channel server) throws Exception {
        Peers.await(peers.connect(server, new Inbox()).close());
    }

    private static void assertDone(String what, Future<?>... futures) throws InterruptedException {
        List<Integer> hanging = new ArrayList<>();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (int i = 0; i < futures.length; i++) {
            long left = Math.max(1, deadline - System.nanoTime());
            if (futures[i] != null && !futures[i].await(left, TimeUnit.NANOSECONDS)) {
                hanging.add(i);
            }
        }
        assertEquals(List.of(), hanging, () -> what + ": what is not done, of " + Arrays.toString(futures));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void end(EventLoopGroup group) {
        Future<?> ended = group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        assertTrue(ended.awaitUninterruptibly(2 * SECONDS, TimeUnit.SECONDS), "the loops do not end");
    }
}
