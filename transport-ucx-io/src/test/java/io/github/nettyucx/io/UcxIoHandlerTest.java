// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.SeededBytes;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.github.nettyucx.wire.CloseReason;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The event loops of Netty 4.2 take the channels of this transport, and end as they should. */
@Timeout(60)
class UcxIoHandlerTest {

    private static final int LENGTH = 16 * 1024 * 1024;
    private static final long SEED = 42;
    private static final long SECONDS = 15;

    private final List<EventLoopGroup> groups = new ArrayList<>();

    @AfterEach
    void endLoops() throws InterruptedException {
        for (EventLoopGroup group : groups) {
            Peers.await(group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
        }
    }

    private <G extends EventLoopGroup> G noted(G group) {
        groups.add(group);
        return group;
    }

    private EventLoopGroup newGroup() {
        return noted(new MultiThreadIoEventLoopGroup(1, UcxIoHandler.newFactory()));
    }

    private static Channel listen(EventLoopGroup accepting, EventLoopGroup serving, ChannelHandler handler)
            throws InterruptedException {
        return Peers.await(new ServerBootstrap().group(accepting, serving).channel(UcxServerSocketChannel.class)
                .childHandler(handler).bind(Peers.loopback(0))).channel();
    }

    private static Bootstrap client(EventLoopGroup group) {
        return new Bootstrap().group(group).channel(UcxSocketChannel.class).handler(new ChannelInboundHandlerAdapter());
    }

    private static ByteBuf bytes() {
        return Unpooled.directBuffer(LENGTH).writeBytes(new SeededBytes(SEED).at(0, LENGTH));
    }

    /** Of several channels. */
    @ChannelHandler.Sharable
    private static final class Passive extends ChannelInboundHandlerAdapter {
    }

    /** Checks what it reads; done when its channel is closed. */
    private static final class Reader extends ChannelInboundHandlerAdapter {

        private final SeededBytes expected = new SeededBytes(SEED);
        private final CompletableFuture<Integer> end = new CompletableFuture<>();
        private int position;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int length = buffer.readableBytes();
            expected.check(position, buffer);
            position += length;
            buffer.release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            end.complete(position);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            end.completeExceptionally(cause);
        }

        void assertReadAll() throws Exception {
            assertEquals(LENGTH, end.get(SECONDS, TimeUnit.SECONDS));
        }
    }

    // ------------------------------------------------------------------------------------------- which loops

    @Test
    void loopsWithOtherHandlersAreRefused() throws Exception {
        EventLoopGroup nio = noted(new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()));
        Throwable failure = Peers.awaitFailure(nio.register(new UcxSocketChannel()));
        assertTrue(failure.getMessage().contains("incompatible event loop type"), failure::toString);
        failure = Peers.awaitFailure(newGroup().register(new NioSocketChannel()));
        assertTrue(failure.getMessage().contains("incompatible event loop type"), failure::toString);
    }

    @Test
    void aServerAndItsChildrenCanBeOnLoopsOfEitherShape() throws Exception {
        EventLoopGroup ours = noted(new UcxEventLoopGroup(1));
        EventLoopGroup theirs = newGroup();
        for (boolean serverOnOurs : new boolean[] {true, false}) {
            EventLoopGroup accepting = serverOnOurs ? ours : theirs;
            EventLoopGroup serving = serverOnOurs ? theirs : ours;
            Reader reader = new Reader();
            Channel server = listen(accepting, serving, reader);
            Channel channel = Peers.await(client(accepting).connect(server.localAddress())).channel();
            channel.writeAndFlush(bytes());
            Peers.await(channel.close());
            reader.assertReadAll();
        }
    }

    @Test
    void theLoopCountsItsChannels() throws Exception {
        CountingLoop loop = noted(new CountingLoop());
        Channel server = listen(loop, loop, new ChannelInboundHandlerAdapter());
        assertEquals(1, loop.getNumOfRegisteredChannels());
        Channel channel = Peers.await(client(loop).connect(server.localAddress())).channel();
        assertTrue(loop.getNumOfRegisteredChannels() >= 2);
        Peers.await(channel.close());
        Peers.await(server.close());
        // They leave in the loop's next turns.
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "channels are left",
                () -> loop.getNumOfRegisteredChannels() == 0);
    }

    @Test
    void theFactoryTellsWhatItsLoopsHaveDone() throws Exception {
        UcxIoHandlerFactory factory = UcxIoHandler.newFactory();
        EventLoopGroup group = noted(new MultiThreadIoEventLoopGroup(2, factory));
        Channel server = listen(newGroup(), newGroup(), new Passive());
        assertEquals(0, factory.metrics().traffic().connections());
        // One for each of its loops.
        for (int i = 0; i < 2; i++) {
            Peers.await(client(group).connect(server.localAddress()));
        }
        assertEquals(2, factory.metrics().traffic().connections());
        Peers.await(group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
        assertEquals(2, factory.metrics().connectionsClosed(CloseReason.ORDERLY), "the loops have ended");
    }

    private static final class CountingLoop extends SingleThreadIoEventLoop {

        CountingLoop() {
            super(null, new DefaultThreadFactory("counting"), UcxIoHandler.newFactory());
        }

        @Override
        protected int getNumOfRegisteredChannels() {
            return super.getNumOfRegisteredChannels();
        }
    }

    @Test
    void aLoopThatIsRunByHandEndsInGoodOrder() throws Exception {
        endByHand(loop -> loop.shutdownGracefully(0, 5, TimeUnit.SECONDS));
    }

    /** It takes no tasks any more from then on. */
    @Test
    @SuppressWarnings("deprecation")
    void soItDoesIfItIsShutDownLikeAnyExecutor() throws Exception {
        endByHand(ManualIoEventLoop::shutdown);
    }

    private void endByHand(Consumer<ManualIoEventLoop> end) throws Exception {
        Reader reader = new Reader();
        Channel server = listen(newGroup(), newGroup(), reader);
        CompletableFuture<ManualIoEventLoop> made = new CompletableFuture<>();
        Thread runner = Thread.ofPlatform().name("by hand").start(() -> {
            ManualIoEventLoop loop =
                    new ManualIoEventLoop(Thread.currentThread(), UcxIoHandler.newFactory(UcxWaitStrategy.PARK));
            made.complete(loop);
            // It may block, and it need not.
            for (boolean block = true; !loop.isTerminated(); block = !block) {
                if (block) {
                    loop.run(TimeUnit.MILLISECONDS.toNanos(20));
                } else {
                    loop.runNow();
                }
            }
        });
        ManualIoEventLoop loop = made.get(SECONDS, TimeUnit.SECONDS);
        Channel channel = Peers.await(client(loop).connect(server.localAddress())).channel();
        // On the loop: a write that is still a task of it fails in Netty, when the loop takes no other tasks any more.
        Peers.await(loop.submit(() -> channel.writeAndFlush(bytes())));
        end.accept(loop);
        Peers.await(loop.terminationFuture());
        runner.join();
        assertFalse(channel.isOpen());
        reader.assertReadAll();
    }

    /** One task of the loop's own finds no room, and the application says so in its own way. */
    @Test
    void aLoopWhoseQueueIsFullWhenItEndsClosesItsChannels() throws Exception {
        FullLoop loop = noted(new FullLoop());
        Channel server = listen(loop, loop, new ChannelInboundHandlerAdapter());
        loop.execute(() -> loop.ending = true);
        Peers.await(loop.terminationFuture());
        assertTrue(loop.refused, "there was room");
        assertFalse(server.isOpen());
    }

    /** Full before the loop looks whether it ends: it tells itself to end in a turn of input and output. */
    private static final class FullLoop extends SingleThreadIoEventLoop {

        private static final int CAPACITY = 16;
        private boolean ending;
        private boolean refused;

        FullLoop() {
            super(null, new DefaultThreadFactory("full"), UcxIoHandler.newFactory(), CAPACITY, (task, loop) -> {
                throw new IllegalStateException("no room");
            }, 0);
        }

        @Override
        protected int runIo() {
            int work = super.runIo();
            if (ending && !isShuttingDown()) {
                shutdownGracefully(0, 5, TimeUnit.SECONDS);
                try {
                    // Netty rounds the capacity up.
                    for (int i = 0; i < 1_000_000; i++) {
                        execute(() -> { });
                    }
                } catch (IllegalStateException e) {
                    refused = true;
                }
            }
            return work;
        }
    }

    @Test
    void aWrongWaitStrategyIsNamedWhenTheFactoryIsMade() {
        String property = "io.github.nettyucx.waitStrategy";
        String before = System.setProperty(property, "sleepy");
        try {
            Throwable failure = assertThrows(IllegalArgumentException.class, UcxIoHandler::newFactory);
            assertTrue(failure.getMessage().contains("'sleepy'"), failure::toString);
        } finally {
            if (before == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, before);
            }
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    @OnEachLane
    void whatWasFlushedIsDeliveredBeforeALoopEnds() throws Exception {
        for (long quietSeconds : new long[] {0, 1}) {
            Reader reader = new Reader();
            Channel server = listen(newGroup(), newGroup(), reader);
            EventLoopGroup ending = newGroup();
            Channel channel = Peers.await(client(ending).connect(server.localAddress())).channel();
            Future<?> written = channel.writeAndFlush(bytes());
            Peers.await(ending.shutdownGracefully(quietSeconds, 5, TimeUnit.SECONDS));
            Peers.await(written);
            reader.assertReadAll();
            endLoops();
        }
    }

    @OnEachLane
    void tasksThatWereThereBeforeTheEndStillWrite() throws Exception {
        Reader reader = new Reader();
        Channel server = listen(newGroup(), newGroup(), reader);
        EventLoopGroup ending = newGroup();
        Channel channel = Peers.await(client(ending).connect(server.localAddress())).channel();
        CompletableFuture<ChannelFuture> written = new CompletableFuture<>();
        // The end is asked for on the loop, so that it certainly comes before the write.
        Peers.await(ending.submit(() -> {
            ending.shutdownGracefully(0, 5, TimeUnit.SECONDS);
            ending.execute(() -> written.complete(channel.writeAndFlush(bytes())));
        }));
        Peers.await(ending.terminationFuture());
        Peers.await(written.get(SECONDS, TimeUnit.SECONDS));
        reader.assertReadAll();
        endLoops();
    }

    @OnEachLane
    void aLoopThatEndsWaitsForAPeerThatDoesNotReadAsLongAsItsChannelSays() throws Exception {
        EventLoopGroup serving = newGroup();
        Channel server = Peers.await(new ServerBootstrap().group(serving).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter()).childOption(ChannelOption.AUTO_READ, false)
                .bind(Peers.loopback(0))).channel();
        EventLoopGroup ending = newGroup();
        Channel channel = Peers.await(client(ending).option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 1000)
                .connect(server.localAddress())).channel();
        ChannelFuture write = Peers.await(channel.eventLoop().submit(() -> channel.writeAndFlush(bytes()))).getNow();
        long start = System.nanoTime();
        Peers.await(ending.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        // What it could take moved within the first second. The default, 10 s, would be much later.
        assertTrue(millis >= 990 && millis < 9500, () -> "ended after " + millis + " ms");
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write));
        assertTrue(channel.closeFuture().isDone());
        endLoops();
    }

    @OnEachLane
    void aGroupThatIsClosedLikeAnyExecutorDeliversAsWell() throws Exception {
        Reader reader = new Reader();
        Channel server = listen(newGroup(), newGroup(), reader);
        EventLoop loop;
        ChannelFuture written;
        try (EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, UcxIoHandler.newFactory())) {
            loop = group.next();
            Channel channel = Peers.await(client(group).connect(server.localAddress())).channel();
            // See endByHand.
            written = Peers.await(loop.submit(() -> channel.writeAndFlush(bytes()))).getNow();
        }
        Peers.await(loop.terminationFuture());
        Peers.await(written);
        assertFalse(written.channel().isOpen());
        reader.assertReadAll();
        endLoops();
    }

    @Test
    void aQuietLoopWithAServerEndsAtOnce() throws Exception {
        // One that waits for something does so each time; the machine may be slow once.
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 5 && least >= 600; round++) {
            EventLoopGroup group = newGroup();
            Channel server = listen(group, group, new ChannelInboundHandlerAdapter());
            long start = System.nanoTime();
            Peers.await(group.shutdownGracefully(0, 15, TimeUnit.SECONDS));
            least = Math.min(least, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            assertFalse(server.isOpen());
        }
        long millis = least;
        assertTrue(millis < 600, () -> "ended after " + millis + " ms at least");
    }

    /** Whoever keeps a group, or a factory, that has ended keeps its counts, and nothing of UCX. */
    @Test
    void aLoopThatHasEndedKeepsNoEngine() throws Exception {
        CompletableFuture<UcxIoHandler> made = new CompletableFuture<>();
        UcxIoHandlerFactory factory = UcxIoHandler.newFactory();
        EventLoopGroup group = noted(new MultiThreadIoEventLoopGroup(1, executor -> {
            UcxIoHandler handler = factory.newHandler(executor);
            made.complete(handler);
            return handler;
        }));
        UcxIoHandler handler = made.get();
        WeakReference<Object> engine = group.submit(() -> new WeakReference<Object>(handler.driver().engine())).get();
        Peers.await(group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the engine is still there", () -> {
            System.gc();
            return engine.refersTo(null);
        });
        assertThrows(IOException.class, () -> handler.driver().engine());
        assertEquals(0, factory.metrics().traffic().connections());
    }
}
