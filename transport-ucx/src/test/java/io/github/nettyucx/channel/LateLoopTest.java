// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A loop that is held up, as by SIGSTOP, comes to its timers late. What a peer has said in time is there all the same, though
 * the loop has not seen it: such a peer is not taken for one that has said nothing.
 */
class LateLoopTest {

    private static final int TIMEOUT_MILLIS = 1500;
    /** The loop is held up so much longer, not to be counted as held up, and to be. */
    private static final long LITTLE_MILLIS = 50;
    private static final long LONG_MILLIS = 1200;
    private static final long SECONDS = 15;

    private final CompletableFuture<UcxSocketChannel> registered = new CompletableFuture<>();
    private final Inbox child = new Inbox() {
        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            registered.complete((UcxSocketChannel) context.channel());
        }
    };
    private Peers peers;
    private UcxServerSocketChannel server;

    @BeforeEach
    void listen() throws Exception {
        peers = new Peers();
        server = (UcxServerSocketChannel) peers.listen(peers.server(() -> child)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS));
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /**
     * Holds the loop up until after its timers, and then between its look at the sockets and the timers once more.
     */
    private static final class Delay {

        private final CountDownLatch between = new CountDownLatch(1);
        private final CountDownLatch said = new CountDownLatch(1);

        Delay(EventLoop loop, long millis) {
            loop.execute(() -> {
                // Due before the timer, so that both run in one turn, without a look at the sockets in between.
                loop.schedule(this::holdUp, 1, TimeUnit.MILLISECONDS);
                sleep(millis);
            });
        }

        private void holdUp() {
            between.countDown();
            try {
                assertTrue(said.await(SECONDS, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** This is the time that a stopped process does not have. */
        private static void sleep(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void awaitLast() throws InterruptedException {
            assertTrue(between.await(SECONDS, TimeUnit.SECONDS));
        }

        void end() {
            said.countDown();
        }
    }

    @OnEachLane(linksOnly = true)
    void theLastWordThatCameInTimeIsHeard() throws Exception {
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            client.greetUpToGo();
            client.awaitLink();
            UcxSocketChannel accepted = registered.get(SECONDS, TimeUnit.SECONDS);
            Delay delay = new Delay(accepted.eventLoop(), TIMEOUT_MILLIS + LITTLE_MILLIS);
            delay.awaitLast();
            client.sayGo();
            delay.end();
            client.until(() -> accepted.isActive() || !accepted.isOpen(), "the server does not decide");
            assertTrue(accepted.isActive(), "the client was taken for one that has said nothing");
        }
    }

    @OnEachLane(linksOnly = true)
    void aPeerThatCouldNotBeAnsweredHasItsTimeAgain() throws Exception {
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            // Before it has said anything.
            UcxSocketChannel accepted = registered.get(SECONDS, TimeUnit.SECONDS);
            Delay delay = new Delay(accepted.eventLoop(), TIMEOUT_MILLIS + LONG_MILLIS);
            delay.awaitLast();
            client.beginGreeting();
            delay.end();
            client.finishGreeting();
            client.sayGo();
            client.until(() -> accepted.isActive() || !accepted.isOpen(), "the server does not decide");
            assertTrue(accepted.isActive(), "the client was given no time");
        }
    }
}
