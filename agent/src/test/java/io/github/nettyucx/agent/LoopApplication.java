// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultEventExecutorChooserFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.RejectedExecutionHandlers;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** What applications do with groups and loops, each by the name that is the first argument. */
public final class LoopApplication {

    private static final int SECONDS = 15;
    /** For what has happened already. */
    private static final int SHORT = 3;
    private static final int GROUPS = 30;
    /** Whatever has been used last may have one in its hands for ever. */
    private static final int MOST_KEPT = 3;

    private LoopApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "many" -> many();
            case "given" -> given();
            case "tail" -> tailAlone();
            case "await" -> awaitInListener();
            case "full" -> bindWhileTheQueueIsFull();
            case "later" -> {
                awaitBeside("loop", EventLoopGroup::next);
                awaitBeside("group", group -> group);
            }
            case "listed" -> listed();
            case "error" -> endByAnError();
            case "ended" -> connectWhenTheGroupHasEnded();
            case "no-loop" -> connectWhereNoLoopCanBeMade();
            case "refused" -> listenAfterAnEndThatWasRefused();
            case "threads" -> threads(Boolean.parseBoolean(arguments[1]));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    /** Taken over by no release: so it is on a loop of Netty's. */
    public static final class OwnServer extends NioServerSocketChannel {
    }

    /** The same. */
    public static final class OwnClient extends NioSocketChannel {
    }

    private static ChannelFuture listen(EventLoopGroup group) {
        return new ServerBootstrap().group(group).channel(OwnServer.class).childHandler(new ChannelInboundHandlerAdapter())
                .bind("127.0.0.1", 0);
    }

    /** Groups that come and go leave nothing behind. */
    private static void many() throws Exception {
        for (int i = 0; i < GROUPS; i++) {
            EventLoopGroup group = new NioEventLoopGroup(1);
            group.submit(() -> null).get();
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        }
        // Threads that have told the end of their groups may not have got to their own yet.
        int drivers = Histogram.count(".channel.IoDriver");
        for (long begin = System.nanoTime(); drivers > MOST_KEPT
                && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(SECONDS);) {
            drivers = Histogram.count(".channel.IoDriver");
        }
        System.out.println("groups " + GROUPS + ", drivers " + drivers);
    }

    /** All that the constructor with the most parameters takes. */
    private static void given() throws Exception {
        AtomicInteger tasks = new AtomicInteger();
        AtomicInteger tailTasks = new AtomicInteger();
        AtomicInteger rejected = new AtomicInteger();
        Runnable refused = () -> {
        };
        EventLoopTaskQueueFactory tailQueue = max -> {
            tailTasks.incrementAndGet();
            return new ConcurrentLinkedQueue<>();
        };
        EventLoopGroup group = new NioEventLoopGroup(2, (Executor) null, DefaultEventExecutorChooserFactory.INSTANCE,
                SelectorProvider.provider(), DefaultSelectStrategyFactory.INSTANCE,
                (task, executor) -> rejected.incrementAndGet(), max -> {
                    tasks.incrementAndGet();
                    return new ConcurrentLinkedQueue<>() {
                        @Override
                        public boolean offer(Runnable task) {
                            return task != refused && super.offer(task);
                        }
                    };
                }, tailQueue);
        group.next().execute(refused);
        group.submit(() -> null).get();
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        System.out.println("loops " + group.next().getClass().getSimpleName() + ", queues " + tasks + " and " + tailTasks
                + ", rejected " + rejected);
    }

    /** A queue for what runs at the end of a turn, and none for tasks. */
    private static void tailAlone() throws Exception {
        AtomicInteger taken = new AtomicInteger();
        EventLoopGroup group = new NioEventLoopGroup(1, (Executor) null, DefaultEventExecutorChooserFactory.INSTANCE,
                SelectorProvider.provider(), DefaultSelectStrategyFactory.INSTANCE, RejectedExecutionHandlers.reject(), null,
                max -> new ConcurrentLinkedQueue<>() {
                    @Override
                    public boolean offer(Runnable task) {
                        taken.incrementAndGet();
                        return super.offer(task);
                    }
                });
        group.submit(() -> null).get();
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        System.out.println("loops " + group.next().getClass().getSimpleName() + ", in the tail " + taken);
    }

    /** Netty refuses a timeout that is shorter than the quiet period, and the group goes on. */
    private static void listenAfterAnEndThatWasRefused() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        group.submit(() -> null).get();
        try {
            group.shutdownGracefully(SECONDS, 1, TimeUnit.SECONDS);
        } catch (IllegalArgumentException e) {
            System.out.println("refused, listens " + listen(group).await().isSuccess());
        }
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
    }

    /** One group's end waits for another's, on the thread that tells of it. */
    private static void awaitInListener() throws Exception {
        EventLoopGroup first = new NioEventLoopGroup(1);
        EventLoopGroup second = new NioEventLoopGroup(1);
        listen(second).sync();
        CompletableFuture<Boolean> awaited = new CompletableFuture<>();
        first.terminationFuture().addListener(ended -> {
            try {
                second.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
                awaited.complete(second.awaitTermination(SECONDS, TimeUnit.SECONDS) && second.isTerminated());
            } catch (Throwable t) {
                awaited.completeExceptionally(t);
            }
        });
        first.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        System.out.println("awaited " + awaited.handle((ended, failure) -> failure == null ? ended : failure)
                .get(2 * SECONDS, TimeUnit.SECONDS));
    }

    /** Nothing is taken by the queue of the transport's loop, and nobody is told, when the loop beside is to begin. */
    private static void bindWhileTheQueueIsFull() throws Exception {
        AtomicBoolean full = new AtomicBoolean();
        AtomicInteger queues = new AtomicInteger();
        EventLoopGroup group = new NioEventLoopGroup(1, Executors.newCachedThreadPool(),
                DefaultEventExecutorChooserFactory.INSTANCE, SelectorProvider.provider(),
                DefaultSelectStrategyFactory.INSTANCE, (task, executor) -> {
                }, max -> {
                    boolean isFirst = queues.getAndIncrement() == 0;
                    return new ConcurrentLinkedQueue<>() {
                        @Override
                        public boolean offer(Runnable task) {
                            return !(isFirst && full.get()) && super.offer(task);
                        }
                    };
                }, max -> new ConcurrentLinkedQueue<>());
        group.submit(() -> null).get();
        Channel server = new OwnServer();
        full.set(true);
        // By another thread than one of the group's: what the group itself would tell goes through the queue that is full.
        ChannelFuture registered = group.register(new DefaultChannelPromise(server, GlobalEventExecutor.INSTANCE));
        boolean isRegistered = registered.await(SECONDS, TimeUnit.SECONDS) && registered.isSuccess();
        full.set(false);
        boolean isBound = isRegistered && server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .await(SECONDS, TimeUnit.SECONDS) && server.isActive();
        boolean ended = group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).await(2 * SECONDS, TimeUnit.SECONDS);
        System.out.println("queues " + queues + ", bound " + isBound + ", ended " + ended);
    }

    /** What a loop tells of its channels. */
    private static void listed() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        CountDownLatch unregistered = new CountDownLatch(1);
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelUnregistered(ChannelHandlerContext context) {
                        unregistered.countDown();
                    }
                }).childHandler(new ChannelInboundHandlerAdapter()).bind("127.0.0.1", 0).sync().channel();
        SingleThreadEventLoop loop = (SingleThreadEventLoop) group.next();
        List<Channel> listed = loop.submit(() -> {
            List<Channel> all = new ArrayList<>();
            loop.registeredChannelsIterator().forEachRemaining(all::add);
            return all;
        }).get();
        System.out.println(loop.getClass().getSimpleName() + ", channels " + loop.registeredChannels() + ", listed "
                + listed.equals(List.of(server)));
        server.close().sync();
        // Netty tells the close first and takes the channel from its loop later, in a task of its own.
        boolean told = unregistered.await(SECONDS, TimeUnit.SECONDS);
        System.out.println("unregistered " + told + ", channels " + loop.submit(loop::registeredChannels).get());
    }

    /** Of the loop's own, such as for want of memory. */
    private static void endByAnError() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        EventLoopGroup group = new NioEventLoopGroup(1, (Executor) null, DefaultEventExecutorChooserFactory.INSTANCE,
                SelectorProvider.provider(), DefaultSelectStrategyFactory.INSTANCE, RejectedExecutionHandlers.reject(),
                max -> new ConcurrentLinkedQueue<>() {
                    @Override
                    public Runnable poll() {
                        if (broken.getAndSet(false)) {
                            throw new InternalError("broken");
                        }
                        return super.poll();
                    }
                });
        EventLoop loop = group.next();
        loop.submit(() -> null).get();
        broken.set(true);
        loop.execute(() -> {
        });
        boolean ended = loop.terminationFuture().await(SECONDS, TimeUnit.SECONDS);
        System.out.println("ended " + ended + " by " + loop.terminationFuture().cause());
    }

    /** The loop beside ends later than the other one. */
    private static void awaitBeside(String whose, Function<EventLoopGroup, EventExecutorGroup> part) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        Thread taken = group.submit(Thread::currentThread).get();
        CountDownLatch awaited = new CountDownLatch(1);
        listen(group).sync().channel().eventLoop().execute(() -> {
            try {
                taken.join();
                // For so long only this loop is there: unless who waits for it does not.
                awaited.await(1, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        EventExecutorGroup ending = part.apply(group);
        ending.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        boolean ended = ending.awaitTermination(SECONDS, TimeUnit.SECONDS);
        long nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
        awaited.countDown();
        System.out.println(whose + " ended " + ended + ", idle " + (nanos < TimeUnit.MILLISECONDS.toNanos(300)));
    }

    /** Nobody has needed the loop beside before. */
    private static void connectWhenTheGroupHasEnded() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        group.submit(() -> null).get();
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        Channel refused = connect(group);
        refused.closeFuture().addListener(closed -> {
        });
        System.out.println("its loop has ended " + refused.eventLoop().awaitTermination(0, TimeUnit.SECONDS));
        EventLoopGroup other = new NioEventLoopGroup(1);
        Channel registered = listen(other).sync().channel();
        String cause = rootOf(group.register(registered).await().cause());
        System.out.println("elsewhere " + cause + ", open " + registered.isOpen());
    }

    /** As without descriptors. */
    private static void connectWhereNoLoopCanBeMade() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1, (Executor) null, SelectorProvider.provider(), () -> {
            throw new IllegalStateException("no more selectors");
        });
        connect(group);
        connect(group);
        System.out.println("ended " + group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS)
                .await(SECONDS, TimeUnit.SECONDS));
    }

    private static Channel connect(EventLoopGroup group) throws Exception {
        AtomicReference<Channel> made = new AtomicReference<>();
        String end;
        try {
            ChannelFuture connected = new Bootstrap().group(group).channelFactory((ChannelFactory<Channel>) () -> {
                made.set(new OwnClient());
                return made.get();
            }).handler(new ChannelInboundHandlerAdapter()).connect("127.0.0.1", 1);
            end = connected.await(SECONDS, TimeUnit.SECONDS) ? "failed " + rootOf(connected.cause()) : "nothing";
        } catch (RuntimeException e) {
            end = "thrown " + rootOf(e);
        }
        boolean isOpen = made.get().isOpen();
        System.out.println(end + ", open " + isOpen + ", closed "
                + made.get().closeFuture().await(SHORT, TimeUnit.SECONDS));
        return made.get();
    }

    private static String rootOf(Throwable t) {
        return t.getClass().getSimpleName() + (t.getCause() == null ? "" : ": " + t.getCause().getMessage());
    }

    /** What its threads are, the application has said. */
    private static void threads(boolean daemon) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1, Executors.newCachedThreadPool(
                task -> Thread.ofPlatform().daemon(daemon).name("own").unstarted(task)));
        listen(group).sync();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("netty-ucx-beside")) {
                System.out.println("beside " + (thread.isDaemon() ? "a daemon" : "no daemon"));
            }
        }
    }
}
