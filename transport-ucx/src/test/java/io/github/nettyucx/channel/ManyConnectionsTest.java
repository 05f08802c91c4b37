// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A thousand connections on one loop per side come and go, and leave nothing behind. */
@Tag("any-netty")
class ManyConnectionsTest {

    private static final int CONNECTIONS = 1000;
    private static final int ROUNDS = 3;
    private static final int SECONDS = 60;

    /**
     * How much more of the C library's heap may be in use after all rounds than after the first. An endpoint takes 3 KB
     * (tcp) to 15 KB (shm) of it on each side, so rounds that kept theirs would add 18 to 90 MB. The just-in-time compiler takes
     * some 20 MB while it works.
     */
    private static final long HEAP_TOLERANCE = 32L * 1024 * 1024;

    /**
     * How much more memory may be resident. The C library and Java's heap keep what they have been given back, so this
     * is no more than a bound for what is counted nowhere: 32 KB for each connection.
     */
    private static final long RESIDENT_TOLERANCE = 96L * 1024 * 1024;

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

    @OnEachLane(timeoutSeconds = 240)
    void aThousandConnectionsLeaveNothingBehind() throws Exception {
        Channel server = peers.listen(
                peers.server(EchoHandler::new).childOption(ChannelOption.ALLOCATOR, leaks.allocator));
        // Pools fill, code is compiled.
        connectEchoAndClose(server);
        awaitWorkersGone();
        int descriptors = OwnProcess.openDescriptors();
        long heap = NativeHeap.settled(Long.MIN_VALUE);
        long resident = OwnProcess.resident();
        for (int round = 0; round < ROUNDS; round++) {
            connectEchoAndClose(server);
            awaitWorkersGone();
            assertEquals(descriptors, OwnProcess.openDescriptors(), "file descriptors");
            assertEquals(0, leaks.activeBuffers(), "buffers of the channels");
        }
        long heapGrowth = NativeHeap.settled(heap + HEAP_TOLERANCE) - heap;
        long residentGrowth = OwnProcess.resident() - resident;
        System.out.println("growth in bytes: heap " + heapGrowth + ", resident " + residentGrowth);
        assertTrue(heapGrowth <= HEAP_TOLERANCE, () -> "growth of the native heap in bytes: " + heapGrowth);
        assertTrue(residentGrowth <= RESIDENT_TOLERANCE, () -> "growth of resident memory: " + residentGrowth);
    }

    private void connectEchoAndClose(Channel server) throws InterruptedException {
        Bootstrap bootstrap = peers.client(new ChannelInboundHandlerAdapter())
                .option(ChannelOption.ALLOCATOR, leaks.allocator);
        List<ChannelFuture> connects = new ArrayList<>();
        CountDownLatch answers = new CountDownLatch(CONNECTIONS);
        for (int i = 0; i < CONNECTIONS; i++) {
            connects.add(bootstrap.clone().handler(new AnswerHandler(i, answers)).connect(server.localAddress()));
        }
        for (ChannelFuture connect : connects) {
            assertTrue(connect.await(SECONDS, TimeUnit.SECONDS), "not connected in time");
            if (!connect.isSuccess()) {
                throw new AssertionError("a connect failed", connect.cause());
            }
        }
        assertTrue(answers.await(SECONDS, TimeUnit.SECONDS), () -> answers.getCount() + " answers are missing");
        for (ChannelFuture connect : connects) {
            connect.channel().close();
        }
        for (ChannelFuture connect : connects) {
            assertTrue(connect.channel().closeFuture().await(SECONDS, TimeUnit.SECONDS), "not closed in time");
        }
    }

    /** Same-host workers go when they have been unused for a second. */
    private void awaitWorkersGone() throws Exception {
        for (EventLoopGroup group : List.of(peers.serverGroup, peers.clientGroup)) {
            EventLoop loop = TestLoops.first(group);
            IoDriver driver = TestLoops.driver(loop);
            // The server's main worker has its listener; the client has none.
            int kept = group == peers.serverGroup ? 1 : 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            // Asked by the loop itself, in intervals in which it sleeps as it likes.
            while (loop.schedule(() -> driver.engine().workerCount(), 50, TimeUnit.MILLISECONDS).get() > kept) {
                assertTrue(System.nanoTime() - deadline < 0, "the loop keeps its workers");
            }
            assertEquals(0, loop.submit(() -> driver.engine().orphanCount()).get(), "operations in flight");
            assertEquals(kept, loop.submit(driver::channelCount).get(), "registered channels");
        }
    }

    private static final class EchoHandler extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Sends something, and waits until it is back. */
    private static final class AnswerHandler extends ChannelInboundHandlerAdapter {

        private final SeededBytes stream;
        private final int length;
        private final CountDownLatch answers;
        private int position;

        AnswerHandler(int number, CountDownLatch answers) {
            stream = new SeededBytes(number);
            // Some that are sent from where they lie among those that are copied.
            length = number % 10 == 0 ? 100_000 : 100;
            this.answers = answers;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.wrappedBuffer(stream.at(0, length)));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int read = buffer.readableBytes();
            stream.check(position, buffer);
            buffer.release();
            position += read;
            if (position == length) {
                answers.countDown();
            }
        }
    }
}
