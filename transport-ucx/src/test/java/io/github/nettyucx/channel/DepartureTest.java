// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.CloseReason;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A close with nothing left to send is done when it returns, as that of a kernel's socket; the peer is told behind it. */
@Tag("ucx-matrix")
class DepartureTest {

    private static final int SECONDS = 15;
    /** Longer than it takes to look at a channel that has been closed. */
    private static final int CLOSE_TIMEOUT_MILLIS = 2000;

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

    @OnEachLane
    void aCloseOnTheEventLoopCanBeWaitedForThere() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        Inbox inbox = new Inbox();
        UcxSocketChannel client = peers.connect(server, inbox);
        Channel accepted = child.awaitActive();
        Peers.await(client.writeAndFlush(Unpooled.copyInt(4711)));
        Peers.await(client.eventLoop().submit(() -> {
            // Netty refuses to wait on the loop for what is not done.
            client.close().syncUninterruptibly();
            assertFalse(client.isOpen());
            assertFalse(client.isActive());
        }));
        child.awaitInactive();
        inbox.awaitInactive();
        assertEquals(List.of(), child.exceptions());
        assertEquals(List.of(), inbox.exceptions());
        Peers.await(accepted.closeFuture());
        Eventually.await(SECONDS * 1000, () -> "the end of " + client, client::isOver);
        assertEquals(1, closings(client, CloseReason.ORDERLY));
    }

    @OnEachLane
    void disconnectIsAnOrderlyEndAsWell() throws Exception {
        Inbox child = new Inbox();
        Channel server = peers.listen(() -> child);
        UcxSocketChannel client = peers.connect(server, new Inbox());
        child.awaitActive();
        Peers.await(client.disconnect());
        child.awaitInactive();
        assertEquals(List.of(), child.exceptions());
    }

    /** With {@code SO_LINGER} an application wants to know whether the peer has everything. */
    @OnEachLane(linksOnly = true)
    void withLingerACloseIsDoneWhenThePeerHasEverything() throws Exception {
        BusyPeer peer = new BusyPeer();
        Channel server = peers.listen(() -> peer);
        Channel client = Peers.connect(peers.client(new Inbox()).option(ChannelOption.SO_LINGER, SECONDS), server);
        peer.isBusy();
        ChannelFuture close = client.close();
        assertFalse(close.await(200));
        peer.busy.countDown();
        Peers.await(close);
    }

    @OnEachLane(linksOnly = true)
    void aPeerThatDoesNotAnswerHoldsUpNobodyAndIsGivenUpAfterTheCloseTimeout() throws Exception {
        BusyPeer peer = new BusyPeer();
        Channel server = peers.listen(() -> peer);
        CompletableFuture<Boolean> overThen = new CompletableFuture<>();
        // Looked at by the loop that gives the peer up: not too late, however busy the machine is.
        Inbox inbox = new Inbox() {
            @Override
            public void channelUnregistered(ChannelHandlerContext context) {
                overThen.complete(((UcxSocketChannel) context.channel()).isOver());
            }
        };
        UcxSocketChannel client = Peers.connect(
                peers.client(inbox).option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, CLOSE_TIMEOUT_MILLIS), server);
        peer.isBusy();
        long start = System.nanoTime();
        Peers.await(client.close());
        IoDriver driver = TestLoops.driver(client.eventLoop());
        Eventually.await(SECONDS * 1000, () -> driver.channelCount() + " channels", () -> driver.channelCount() == 0);
        assertFalse(overThen.get(SECONDS, TimeUnit.SECONDS));
        Eventually.await(SECONDS * 1000, () -> "the end of " + client, client::isOver);
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertTrue(millis >= CLOSE_TIMEOUT_MILLIS - 10 && millis < 9000, () -> "over after " + millis + " ms");
        assertEquals(1, closings(client, CloseReason.CLOSE_TIMED_OUT));
        peer.busy.countDown();
        peer.inactive.get(SECONDS, TimeUnit.SECONDS);
    }

    /** Nothing else keeps the loop: its channels are closed and deregistered. */
    @OnEachLane(linksOnly = true)
    void theEndOfALoopWaitsForThePeersOfClosedChannels() throws Exception {
        BusyPeer peer = new BusyPeer();
        Channel server = peers.listen(() -> peer);
        UcxSocketChannel client = peers.connect(server, new Inbox());
        peer.isBusy();
        Peers.await(client.close());
        // Netty does that by a task of its own.
        Eventually.await(SECONDS * 1000, () -> client + " is registered", () -> !client.isRegistered());
        var ended = peers.clientGroup.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        assertFalse(ended.await(200));
        peer.busy.countDown();
        Peers.await(ended);
        assertTrue(client.isOver());
        peer.inactive.get(SECONDS, TimeUnit.SECONDS);
        assertEquals(null, peer.failure);
    }

    /** What the two give back is counted by {@link LeakWatch}. */
    @OnEachLane
    void manyClosesAtOnceLeaveNothing() throws Exception {
        Channel server = peers.listen(Inbox::new);
        for (int round = 0; round < 5; round++) {
            UcxSocketChannel[] clients = new UcxSocketChannel[40];
            for (int i = 0; i < clients.length; i++) {
                clients[i] = peers.connect(server, new Inbox());
            }
            Peers.await(clients[0].eventLoop().submit(() -> {
                for (UcxSocketChannel client : clients) {
                    assertTrue(client.close().isDone());
                }
            }));
            for (UcxSocketChannel client : clients) {
                Eventually.await(SECONDS * 1000, () -> "the end of " + client, client::isOver);
            }
        }
    }

    private static long closings(UcxSocketChannel channel, CloseReason reason) {
        return TestLoops.driver(channel.eventLoop()).metrics().connectionsClosed(reason);
    }

    /** Keeps its loop from the first moment on. */
    private static final class BusyPeer extends ChannelInboundHandlerAdapter {

        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch busy = new CountDownLatch(1);
        private final CompletableFuture<Void> inactive = new CompletableFuture<>();
        private volatile Throwable failure;

        void isBusy() throws InterruptedException {
            assertTrue(entered.await(SECONDS, TimeUnit.SECONDS), "the peer has not been connected");
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            // When its client's last words of the handshake have been taken.
            context.executor().execute(() -> {
                entered.countDown();
                try {
                    assertTrue(busy.await(SECONDS, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            inactive.complete(null);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            failure = cause;
        }
    }
}
