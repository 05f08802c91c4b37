// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.DefaultEventExecutorChooserFactory;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorChooserFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The group can be made and used in all the ways in which Netty's {@code EpollEventLoopGroup} can. */
@Timeout(60)
class EventLoopGroupTest {

    private static void end(UcxEventLoopGroup group) throws InterruptedException {
        Peers.await(group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
    }

    @Test
    void hasTheConstructorsOfEpollsGroup() {
        Set<List<Class<?>>> constructors = new HashSet<>();
        for (Constructor<?> constructor : UcxEventLoopGroup.class.getConstructors()) {
            constructors.add(List.of(constructor.getParameterTypes()));
        }
        List<Class<?>> all = List.of(int.class, Executor.class, EventExecutorChooserFactory.class,
                SelectStrategyFactory.class, RejectedExecutionHandler.class, EventLoopTaskQueueFactory.class,
                EventLoopTaskQueueFactory.class);
        Set<List<Class<?>>> expected = new HashSet<>(List.of(
                List.of(),
                List.of(int.class),
                List.of(ThreadFactory.class),
                List.of(int.class, SelectStrategyFactory.class),
                List.of(int.class, ThreadFactory.class),
                List.of(int.class, Executor.class),
                List.of(int.class, ThreadFactory.class, SelectStrategyFactory.class),
                List.of(int.class, ThreadFactory.class, int.class),
                List.of(int.class, Executor.class, SelectStrategyFactory.class),
                all.subList(0, 4), all.subList(0, 5), all.subList(0, 6), all));
        // Of its own.
        expected.add(List.of(int.class, UcxWaitStrategy.class));
        expected.add(List.of(int.class, ThreadFactory.class, UcxWaitStrategy.class));
        assertEquals(expected, constructors);
    }

    @Test
    void eachWayOfMakingAGroupGivesOneThatWorks() throws Exception {
        ThreadFactory threads = new DefaultThreadFactory("mine");
        List<UcxEventLoopGroup> groups = new ArrayList<>(List.of(
                new UcxEventLoopGroup(),
                new UcxEventLoopGroup(threads),
                new UcxEventLoopGroup(1, DefaultSelectStrategyFactory.INSTANCE),
                new UcxEventLoopGroup(1, threads),
                new UcxEventLoopGroup(1, threads, DefaultSelectStrategyFactory.INSTANCE),
                new UcxEventLoopGroup(1, (Executor) null),
                new UcxEventLoopGroup(1, null, DefaultEventExecutorChooserFactory.INSTANCE,
                        DefaultSelectStrategyFactory.INSTANCE, RejectedExecutionHandlers.reject(), null, null)));
        for (UcxEventLoopGroup group : groups) {
            assertEquals(3, Peers.await(group.submit(() -> 1 + 2)).getNow());
            end(group);
        }
    }

    @Test
    void loopsRunOnTheExecutorThatIsGiven() throws Exception {
        ExecutorService executor = Executors.newCachedThreadPool(new DefaultThreadFactory("executor"));
        try (Peers peers = new Peers(new UcxEventLoopGroup(1, executor), new UcxEventLoopGroup(2, executor))) {
            String name = (String) Peers.await(peers.serverGroup.submit(
                    () -> Thread.currentThread().getName())).getNow();
            assertTrue(name.startsWith("executor"), name);
            Peers.await(peers.connect(peers.listen(Inbox::new), new Inbox()).close());
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void tasksGoThroughTheQueuesThatAreGiven() throws Exception {
        AtomicInteger made = new AtomicInteger();
        AtomicInteger added = new AtomicInteger();
        EventLoopTaskQueueFactory factory = maxCapacity -> {
            made.incrementAndGet();
            return counting(added);
        };
        UcxEventLoopGroup group = new UcxEventLoopGroup(1, null, DefaultEventExecutorChooserFactory.INSTANCE,
                DefaultSelectStrategyFactory.INSTANCE, RejectedExecutionHandlers.reject(), factory, factory);
        assertEquals(2, made.get());
        CountDownLatch ran = new CountDownLatch(2);
        SingleThreadEventLoop loop = (SingleThreadEventLoop) group.next();
        loop.execute(ran::countDown);
        loop.executeAfterEventLoopIteration(ran::countDown);
        assertTrue(ran.await(15, TimeUnit.SECONDS));
        assertTrue(added.get() >= 2, added::toString);
        end(group);
    }

    private static Queue<Runnable> counting(AtomicInteger added) {
        return new ConcurrentLinkedQueue<>() {
            private static final long serialVersionUID = 1;

            @Override
            public boolean offer(Runnable task) {
                added.incrementAndGet();
                return super.offer(task);
            }
        };
    }

    @Test
    void theRejectionHandlerIsAskedWhenTheQueueIsFull() throws Exception {
        AtomicInteger rejected = new AtomicInteger();
        AtomicBoolean full = new AtomicBoolean();
        EventLoopTaskQueueFactory factory = maxCapacity -> new ConcurrentLinkedQueue<>() {
            private static final long serialVersionUID = 1;

            @Override
            public boolean offer(Runnable task) {
                return !full.get() && super.offer(task);
            }
        };
        UcxEventLoopGroup group = new UcxEventLoopGroup(1, null, DefaultEventExecutorChooserFactory.INSTANCE,
                DefaultSelectStrategyFactory.INSTANCE, (task, executor) -> rejected.incrementAndGet(), factory);
        full.set(true);
        group.execute(() -> { });
        assertEquals(1, rejected.get());
        full.set(false);
        Peers.await(group.submit(() -> { }));
        assertEquals(1, rejected.get());
        end(group);
        assertThrows(RejectedExecutionException.class, () -> group.execute(() -> { }));
    }

    @Test
    void theShareOfInputAndOutputIsCheckedAndWithoutEffect() throws Exception {
        UcxEventLoopGroup group = new UcxEventLoopGroup(1);
        group.setIoRatio(1);
        group.setIoRatio(100);
        for (int bad : new int[] {0, -1, 101}) {
            IllegalArgumentException failure =
                    assertThrows(IllegalArgumentException.class, () -> group.setIoRatio(bad));
            assertTrue(failure.getMessage().contains(bad + " (expected: 1 to 100"), failure::toString);
        }
        end(group);
    }

    @Test
    void aLoopTellsItsChannelsAndRefusesThatOneIsTakenAway() throws Exception {
        UcxEventLoopGroup group = new UcxEventLoopGroup(1);
        SingleThreadEventLoop loop = (SingleThreadEventLoop) group.next();
        Channel first = new UcxServerSocketChannel();
        Channel second = new UcxSocketChannel();
        Peers.await(loop.register(first));
        Peers.await(loop.register(second));
        assertEquals(2, loop.registeredChannels());
        Peers.await(loop.submit(() -> {
            Iterator<Channel> channels = loop.registeredChannelsIterator();
            assertSame(first, channels.next());
            assertThrows(UnsupportedOperationException.class, channels::remove);
            assertSame(second, channels.next());
            assertFalse(channels.hasNext());
        }));
        Peers.await(first.close());
        Peers.await(second.close());
        // The channels leave the loop in its next turns.
        while (loop.registeredChannels() > 0) {
            Peers.await(loop.submit(() -> { }));
        }
        end(group);
    }

    @OnEachLane
    void itsEndDoesNotWaitForAPeerThatDoesNotReadLongerThanItIsTold() throws Exception {
        int length = 8 * 1024 * 1024;
        Inbox child = new Inbox();
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
            Channel client = peers.connect(server, new Inbox());
            child.awaitActive();
            ChannelFuture write = Peers.await(client.eventLoop().submit(
                    () -> client.writeAndFlush(Unpooled.directBuffer(length).writeZero(length)))).getNow();
            long start = System.nanoTime();
            Peers.await(peers.clientGroup.shutdownGracefully(0, 3, TimeUnit.SECONDS));
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis >= 2900 && millis < 8000, () -> "ended after " + millis + " ms");
            assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write));
            assertTrue(client.closeFuture().isDone());
        }
    }

    /** As an application ends that has no patience: its peers would miss what it has flushed. */
    @OnEachLane
    void itsEndDeliversForTwoSecondsAlsoIfItIsToldToTakeNoTime() throws Exception {
        int length = 8 * 1024 * 1024;
        Inbox child = Inbox.ofMany();
        try (Peers peers = new Peers()) {
            Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
            Channel client = peers.connect(server, new Inbox());
            Channel accepted = child.awaitActive();
            ChannelFuture write = Peers.await(client.eventLoop().submit(
                    () -> client.writeAndFlush(Unpooled.directBuffer(length).writeZero(length)))).getNow();
            accepted.eventLoop().schedule(() -> accepted.config().setAutoRead(true), 200, TimeUnit.MILLISECONDS);
            Peers.await(peers.clientGroup.shutdownGracefully(0, 0, TimeUnit.SECONDS));
            Peers.await(write);
            child.awaitInactive();
            assertEquals(List.of(), child.exceptions());
        }
    }

    /** They learn of it while a task takes long. After it there are several turns, the first of which takes what they say. */
    @OnEachLane(linksOnly = true)
    void itsEndDoesNotSleepWhenPeersHaveEverything() throws Exception {
        long fewest = Long.MAX_VALUE;
        // On a slow machine something may come later, and be slept for.
        for (int i = 0; i < 3 && fewest > 0; i++) {
            fewest = Math.min(fewest, sleepsAtTheEnd());
        }
        assertEquals(0, fewest);
    }

    private static long sleepsAtTheEnd() throws Exception {
        try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
            Inbox child = new Inbox();
            Channel client = peers.connect(peers.listen(() -> child), new Inbox());
            CountDownLatch closed = new CountDownLatch(1);
            child.awaitActive().eventLoop().execute(() -> {
                try {
                    closed.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            EventLoop loop = client.eventLoop();
            IoDriver driver = TestLoops.driver(loop);
            CompletableFuture<Long> parks = new CompletableFuture<>();
            loop.execute(new Runnable() {
                @Override
                public void run() {
                    if (client.isOpen()) {
                        loop.execute(this);
                        return;
                    }
                    closed.countDown();
                    try {
                        child.awaitInactive();
                    } catch (Exception e) {
                        parks.completeExceptionally(e);
                    }
                    // What it has said may be on its way.
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                    parks.complete(driver.metrics().parks());
                }
            });
            Peers.await(peers.clientGroup.shutdownGracefully(0, 15, TimeUnit.SECONDS));
            return driver.metrics().parks() - parks.join();
        }
    }

    /** Who says nothing does not come as far as a lane. */
    @OnEachLane(lanes = Lane.SHM)
    void itsEndDoesNotWaitForAPeerThatConnectsMeanwhileAndSaysNothing() throws Exception {
        try (Peers peers = new Peers(); RawPeer silent = new RawPeer()) {
            UcxEventLoopGroup children = new UcxEventLoopGroup(1);
            CountDownLatch accepted = new CountDownLatch(1);
            Channel server = peers.listen(new ServerBootstrap().group(peers.serverGroup, children)
                    .channel(UcxServerSocketChannel.class).childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            accepted.countDown();
                        }
                    }));
            // What the loop has to do keeps the quiet period from ending before the peer is there.
            TestLoops.first(children).execute(new Runnable() {
                @Override
                public void run() {
                    if (accepted.getCount() > 0) {
                        TestLoops.first(children).execute(this);
                    }
                }
            });
            Future<?> ended = children.shutdownGracefully(1, 3, TimeUnit.SECONDS);
            long start = System.nanoTime();
            // The quiet period, in which the loop still takes what it is given, has begun.
            for (int i = 0; i < 3; i++) {
                Peers.await(children.submit(() -> { }));
            }
            silent.connect((InetSocketAddress) server.localAddress());
            assertTrue(accepted.await(15, TimeUnit.SECONDS), "the child is not given to the loop");
            Peers.await(ended);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            // Before the handshake is given up, 10 s.
            assertTrue(millis < 9000, () -> "ended after " + millis + " ms");
        }
    }

    @Test
    void itsEndClosesItsChannels() throws Exception {
        Peers peers = new Peers();
        Channel server = peers.listen(Inbox::new);
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            clients.add(peers.connect(server, new Inbox()));
        }
        peers.close();
        for (Channel channel : Arrays.asList(server, clients.getFirst(), clients.getLast())) {
            assertFalse(channel.isOpen());
        }
    }
}
