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
import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A thousand connections on one loop per side come and go, and leave nothing behind. */
@Tag("any-netty")
@OwnJvm
class ManyConnectionsTest {

    /** C2 takes and gives back some 20 MB while it works, and Java's heap takes pages when they are first used. */
    private static final String STEADY = "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 -Xms512m -XX:+AlwaysPreTouch";
    private static final int CONNECTIONS = 1000;
    private static final int MOST_ROUNDS = 8;
    /** So many that leave no more than they may are enough. One may give back what the compiler took before. */
    private static final int LITTLE_ROUNDS = 2;
    private static final int SECONDS = 60;

    /**
     * How much more memory the connections may have left behind in such a round: the just-in-time compiler takes some while it
     * works, but not in each round. What a connection has outside of Java's heap and of the pools, which
     * are counted, is nothing; an endpoint of UCX takes 3 to 15 KB.
     */
    private static final long HEAP = 512 * CONNECTIONS;
    /** The same for pages: the C library keeps what it has been given back. */
    private static final long RESIDENT = 16 * 1024 * CONNECTIONS;

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

    @OnEachLane(timeoutSeconds = 240, environment = STEADY)
    void aThousandConnectionsLeaveNothingBehind() throws Exception {
        Channel server = peers.listen(
                peers.server(EchoHandler::new).childOption(ChannelOption.ALLOCATOR, leaks.allocator));
        // Pools fill, code is compiled.
        connectEchoAndClose(server);
        awaitWorkersGone();
        TestLoops.openTimers(peers.serverGroup, peers.clientGroup);
        Set<String> descriptors = OwnProcess.descriptors();
        long heap = NativeHeap.settled(Long.MIN_VALUE);
        long resident = OwnProcess.resident();
        List<Long> heapGrowths = new ArrayList<>();
        List<Long> residentGrowths = new ArrayList<>();
        int little = 0;
        for (int round = 0; round < MOST_ROUNDS && little < LITTLE_ROUNDS; round++) {
            connectEchoAndClose(server);
            awaitWorkersGone();
            OwnProcess.awaitDescriptors(descriptors);
            leaks.awaitNoBuffers();
            long heapBefore = heap;
            heap = NativeHeap.settled(heap + HEAP);
            heapGrowths.add(heap - heapBefore);
            long residentBefore = resident;
            resident = OwnProcess.resident();
            residentGrowths.add(resident - residentBefore);
            little += heapGrowths.getLast() <= HEAP && residentGrowths.getLast() <= RESIDENT ? 1 : 0;
        }
        String growths = "growth in bytes per round: heap " + heapGrowths + ", resident " + residentGrowths;
        System.out.println(growths);
        assertEquals(LITTLE_ROUNDS, little, () -> "rounds that left no more than they may; " + growths);
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
            // The server itself.
            int kept = group == peers.serverGroup ? 1 : 0;
            // Asked by the loop itself, in intervals in which it sleeps as it likes. The server's side of a connection ends
            // in its own time, and where there are no workers nothing else waits for it.
            LoopState left = new LoopState(0, 0, kept);
            Eventually.await(20_000, () -> "left should be " + left + ", but is " + LoopState.of(group, 0),
                    () -> LoopState.of(group, 50).equals(left));
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
