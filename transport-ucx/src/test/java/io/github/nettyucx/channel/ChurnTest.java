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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Connections that come, say something, hear it and go, in great numbers. */
class ChurnTest {

    private static final int AT_A_TIME = 32;
    private static final int ROUNDS = 4;
    private static final int SECONDS = 60;
    private static final long HEAP_TOLERANCE = 32L * 1024 * 1024;
    /** A bound for what is counted nowhere; the C library keeps what it has been given back. */
    private static final long RESIDENT_TOLERANCE = 128L * 1024 * 1024;

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
    @OnEachLane(timeoutSeconds = 180)
    void aThousandInOrderAndAHundredResets() throws Exception {
        churn(1_000, false);
        churn(100, true);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 1800)
    void twentyThousandInOrder() throws Exception {
        churn(20_000, false);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 600)
    void twoThousandResets() throws Exception {
        churn(2_000, true);
    }

    private void churn(int connections, boolean abortive) throws Exception {
        Channel server = peers.listen(peers.server(Customers.Clerk::new)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator)
                .childOption(ChannelOption.SO_LINGER, abortive ? 0 : -1));
        // Pools fill, code is compiled.
        connectEchoAndClose(server, connections / ROUNDS, abortive);
        settle(server);
        int descriptors = OwnProcess.openDescriptors();
        long heap = NativeHeap.settled(Long.MIN_VALUE);
        long resident = OwnProcess.resident();
        long nanos = 0;
        try (Sentinels sentinels = new Sentinels()) {
            for (int round = 0; round < ROUNDS; round++) {
                long start = System.nanoTime();
                connectEchoAndClose(server, connections / ROUNDS, abortive);
                nanos += System.nanoTime() - start;
                sentinels.check();
                settle(server);
            }
        }
        assertEquals(descriptors, OwnProcess.openDescriptors(), "file descriptors");
        assertEquals(0, leaks.activeBuffers(), "buffers of the channels");
        long heapGrowth = NativeHeap.settled(heap + HEAP_TOLERANCE) - heap;
        long residentGrowth = OwnProcess.resident() - resident;
        System.out.println(connections + (abortive ? " connections that were reset: " : " connections: ")
                + connections * 1_000_000_000L / nanos + " per second; growth in bytes: heap " + heapGrowth
                + ", resident " + residentGrowth);
        assertTrue(heapGrowth <= HEAP_TOLERANCE, () -> "growth of the native heap in bytes: " + heapGrowth);
        assertTrue(residentGrowth <= RESIDENT_TOLERANCE, () -> "growth of resident memory: " + residentGrowth);
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

    /** Same-host workers go when they have been unused for a second. */
    private void settle(Channel server) throws Exception {
        EventLoop serving = server.eventLoop();
        EventLoop connecting = TestLoops.first(peers.clientGroup);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (serving.submit(() -> TestLoops.driver(serving).engine().workerCount()).get() > 1
                || connecting.submit(() -> TestLoops.driver(connecting).engine().workerCount()).get() > 0) {
            assertTrue(System.nanoTime() - deadline < 0, "the loops keep their workers");
            Thread.sleep(50);
        }
        assertEquals(1, serving.submit(() -> TestLoops.driver(serving).channelCount()).get(), "registered channels");
    }
}
