// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Connections that come, say something, hear it and go, in great numbers. */
@OwnJvm
class ChurnTest {

    private static final int AT_A_TIME = 32;
    private static final int ROUNDS = 4;
    /** Only as long as too few have left little: what the compiler takes comes at its own time. */
    private static final int MOST_ROUNDS = 8;
    /** The other one takes 20 MB and more while it works, and gives them back: more than a round leaves behind. */
    static final String SMALL_COMPILER = "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1";
    /** So many of them have to leave little behind. */
    private static final int LITTLE_ROUNDS = 2;
    private static final int SECONDS = 60;
    /**
     * How much more memory a connection may have left behind, in the two rounds that left least: the just-in-time compiler
     * takes some while it works, but not in each round. When it gives that back, it hides what is left in one.
     */
    private static final long BYTES_PER_CONNECTION = 64;
    /**
     * What the JVM takes for code that it compiles for the first time, in each of the rounds. A round needs some hundred
     * connections, or each could leave tens of kilobytes behind.
     */
    private static final long BYTES_OF_JVM = 1024 * 1024;
    /** The same for pages, which the C library keeps when they have been given back. */
    private static final long RESIDENT_PER_CONNECTION = 16 * 1024;

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

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET}, timeoutSeconds = 180, environment = SMALL_COMPILER)
    void aThousandInOrderAndTwoThousandResets() throws Exception {
        churn(1_000, false);
        churn(2_000, true);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 1800, environment = SMALL_COMPILER)
    void twentyThousandInOrder() throws Exception {
        churn(20_000, false);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 600, environment = SMALL_COMPILER)
    void twentyThousandResets() throws Exception {
        churn(20_000, true);
    }

    private void churn(int connections, boolean abortive) throws Exception {
        Channel server = peers.listen(peers.server(Customers.Clerk::new)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(ChannelOption.SO_LINGER, abortive ? 0 : -1));
        // Pools fill, code is compiled.
        connectEchoAndClose(server, connections / ROUNDS, abortive);
        // What the JDK opens for good for their first files, sources of random numbers, say, is open then.
        try (Sentinels first = new Sentinels()) {
            first.check();
        }
        settle(server);
        TestLoops.openTimers(peers.serverGroup, peers.clientGroup);
        Set<String> descriptors = OwnProcess.descriptors();
        long heap = NativeHeap.settled(Long.MIN_VALUE);
        long resident = OwnProcess.resident();
        long nanos = 0;
        long made = 0;
        int each = connections / ROUNDS;
        long most = BYTES_OF_JVM + each * BYTES_PER_CONNECTION;
        List<Long> heapGrowths = new ArrayList<>();
        int little = 0;
        long leastResident = Long.MAX_VALUE;
        try (Sentinels sentinels = new Sentinels()) {
            for (int round = 0; round < ROUNDS || little < LITTLE_ROUNDS && round < MOST_ROUNDS; round++) {
                long start = System.nanoTime();
                connectEchoAndClose(server, each, abortive);
                nanos += System.nanoTime() - start;
                made += each;
                sentinels.check();
                settle(server);
                // Two rounds that left little are enough, and to wait for the compiler's memory takes seconds.
                if (little < LITTLE_ROUNDS) {
                    long heapBefore = heap;
                    heap = NativeHeap.settled(heap + most);
                    heapGrowths.add(heap - heapBefore);
                    little += heap - heapBefore <= most ? 1 : 0;
                }
                long residentBefore = resident;
                resident = OwnProcess.resident();
                leastResident = Math.min(leastResident, resident - residentBefore);
            }
        }
        OwnProcess.awaitDescriptors(descriptors);
        leaks.awaitNoBuffers();
        long residentGrowth = leastResident;
        System.out.println(made + (abortive ? " connections that were reset: " : " connections: ")
                + made * 1_000_000_000L / nanos + " per second; growth in bytes per round of " + each + ": heap "
                + heapGrowths + ", resident " + residentGrowth);
        assertEquals(LITTLE_ROUNDS, little, () -> "rounds that left no more than " + most + " bytes; growth of the native"
                + " heap in bytes: " + heapGrowths);
        assertTrue(residentGrowth <= each * RESIDENT_PER_CONNECTION,
                () -> "growth of resident memory: " + residentGrowth);
        Peers.await(server.close());
    }

    private void connectEchoAndClose(Channel server, int connections, boolean abortive) throws Exception {
        Semaphore places = new Semaphore(AT_A_TIME);
        CountDownLatch closed = new CountDownLatch(connections);
        AtomicInteger answers = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Bootstrap bootstrap = peers.client(new ChannelInboundHandlerAdapter())
                .option(ChannelOption.ALLOCATOR, leaks.allocator)
                .option(ChannelOption.SO_LINGER, abortive ? 0 : -1);
        for (int i = 0; i < connections; i++) {
            assertTrue(places.tryAcquire(SECONDS, TimeUnit.SECONDS), "connections do not come to their end");
            ChannelFuture connect = bootstrap.clone().handler(new Passenger(answers)).connect(server.localAddress());
            connect.addListener((ChannelFutureListener) done -> {
                if (!done.isSuccess()) {
                    failure.compareAndSet(null, done.cause());
                }
            });
            connect.channel().closeFuture().addListener(done -> {
                places.release();
                closed.countDown();
            });
            if (failure.get() != null) {
                throw new AssertionError("connect number " + i + " failed", failure.get());
            }
        }
        assertTrue(closed.await(SECONDS, TimeUnit.SECONDS), () -> closed.getCount() + " channels are not closed");
        assertEquals(connections, answers.get(), "answers");
    }

    /** Says one thing, and closes when it has come back. */
    private static final class Passenger extends ChannelInboundHandlerAdapter {

        private final AtomicInteger answers;

        Passenger(AtomicInteger answers) {
            this.answers = answers;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.copyLong(1, 2));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
            answers.incrementAndGet();
            context.close();
        }
    }

    /**
     * The server closes its side of the last connections when its loop has read of their end. Same-host workers go when
     * they have been unused for a second.
     */
    private void settle(Channel server) throws Exception {
        EventLoop serving = server.eventLoop();
        EventLoop connecting = TestLoops.first(peers.clientGroup);
        Eventually.await(20_000, () -> "the loops keep their workers or channels",
                () -> serving.submit(() -> TestLoops.driver(serving).engine().workerCount()).get() == 0
                        && connecting.submit(() -> TestLoops.driver(connecting).engine().workerCount()).get() == 0
                        && serving.submit(() -> TestLoops.driver(serving).channelCount()).get() <= 1);
    }
}
