// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
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
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Connections come and go over the links that two loops have, which go when nobody has come for a while. */
@OwnJvm
class LinkReuseTest {

    private static final int SECONDS = 60;
    private static final int AT_A_TIME = 50;
    /** Of a link, one for each side; some may be made before the first is known to both. */
    private static final int FEW = 4;
    private static final int IDLE_SECONDS = 3;
    /** The loops look now and then, and the last connections may just have begun to end. */
    private static final int GONE_SECONDS = 15;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static UcxMetrics metrics(EventLoopGroup... groups) {
        List<UcxMetrics> loops = new ArrayList<>();
        for (EventLoopGroup group : groups) {
            for (EventExecutor loop : group) {
                loops.add(TestLoops.driver((EventLoop) loop).metrics());
            }
        }
        return UcxMetrics.sum(loops);
    }

    private UcxMetrics metrics() {
        return metrics(peers.serverGroup, peers.clientGroup);
    }

    /** Asks in one direction, says goodbye in the other. */
    private static final class Answering extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Asking extends ChannelInboundHandlerAdapter {

        private final AtomicInteger answers;

        Asking(AtomicInteger answers) {
            this.answers = answers;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.copyInt(17));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
            answers.incrementAndGet();
            context.close();
        }
    }

    /** @return how many endpoints there were at most, as far as it was looked */
    private long comeAndGo(Channel server, int connections) throws Exception {
        Semaphore places = new Semaphore(AT_A_TIME);
        CountDownLatch closed = new CountDownLatch(connections);
        AtomicInteger answers = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Bootstrap client = peers.client(new ChannelInboundHandlerAdapter());
        long most = 0;
        for (int i = 0; i < connections; i++) {
            assertTrue(places.tryAcquire(SECONDS, TimeUnit.SECONDS), "connections do not come to their end");
            ChannelFuture connect = client.clone().handler(new Asking(answers)).connect(server.localAddress());
            connect.addListener(done -> failure.compareAndSet(null, done.cause()));
            connect.channel().closeFuture().addListener(done -> {
                places.release();
                closed.countDown();
            });
            most = Math.max(most, metrics().endpoints());
        }
        assertTrue(closed.await(SECONDS, TimeUnit.SECONDS), () -> closed.getCount() + " channels are not closed");
        assertNull(failure.get());
        assertEquals(connections, answers.get(), "answers");
        return most;
    }

    private void awaitNothingLeft() throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(GONE_SECONDS),
                () -> metrics().endpoints() + " endpoints and " + metrics().workers() + " workers are left",
                () -> metrics().workers() + metrics().endpoints() == 0);
    }

    private int channels(Channel server) throws Exception {
        return peers.serverGroup.next().submit(() -> TestLoops.driver(server.eventLoop()).channelCount()).get();
    }

    private void assertReused(int connections) throws Exception {
        Channel server = peers.listen(Answering::new);
        comeAndGo(server, AT_A_TIME);
        awaitNothingLeft();
        TestLoops.openTimers(peers.serverGroup, peers.clientGroup);
        Set<String> descriptors = OwnProcess.descriptors();
        long most = comeAndGo(server, connections);
        assertTrue(most > 0 && most <= FEW, () -> "endpoints at one time: " + most);
        awaitNothingLeft();
        OwnProcess.awaitDescriptors(descriptors);
        Eventually.await(TimeUnit.SECONDS.toMillis(GONE_SECONDS), () -> channels(server) + " channels of the server's loop",
                () -> channels(server) == 1);
        // And it begins again.
        comeAndGo(server, AT_A_TIME);
    }

    @OnEachLane(linksOnly = true, timeoutSeconds = 120)
    void twoThousandConnectionsShareALink() throws Exception {
        assertReused(2_000);
    }

    @Tag("faults")
    @OnEachLane(linksOnly = true, timeoutSeconds = 1200)
    void fiftyThousandConnectionsShareALink() throws Exception {
        assertReused(50_000);
    }

    /** The link is in use as long as there is one of them. */
    @OnEachLane(linksOnly = true)
    void aConnectionThatStaysKeepsTheLinkForTheOthers() throws Exception {
        Channel server = peers.listen(Answering::new);
        Inbox inbox = new Inbox();
        UcxSocketChannel staying = peers.connect(server, inbox);
        // What nobody uses has gone by then.
        Thread.sleep(TimeUnit.SECONDS.toMillis(IDLE_SECONDS));
        assertEquals(2, metrics().endpoints());
        assertEquals(2, metrics().workers());
        comeAndGo(server, AT_A_TIME);
        assertEquals(2, metrics().endpoints());
        Peers.await(staying.writeAndFlush(Unpooled.copiedBuffer(new byte[] {'a'})));
        inbox.awaitText("a");
        Peers.await(staying.close());
        awaitNothingLeft();
    }
}
