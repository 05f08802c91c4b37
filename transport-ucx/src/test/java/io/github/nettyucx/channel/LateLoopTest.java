// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.Announcement;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A loop that is held up, as by SIGSTOP, comes to its timers late. What a peer has said in time is there all the same, though
 * the loop has not seen it: such a peer is not taken for one that has said nothing.
 */
class LateLoopTest {

    /** Also for what has to be said before the loop is held up, and after it, on a busy machine. */
    private static final int TIMEOUT_MILLIS = 3500;
    /** The loop is held up so much longer, not to be counted as held up, and to be. */
    private static final long LITTLE_MILLIS = 50;
    private static final long LONG_MILLIS = 1200;
    private static final long SECONDS = 15;
    /** For an answer, where half of the time to connect in is not less. */
    private static final int ANSWER_MILLIS = 3000;
    /** Nothing hangs on it. */
    private static final int AMPLE_MILLIS = 20_000;

    private final CompletableFuture<UcxSocketChannel> registered = new CompletableFuture<>();
    /** The turn of the loop in which that was. */
    private volatile int registeredTurn;
    private final Inbox child = new Inbox() {
        @Override
        public void channelRegistered(ChannelHandlerContext context) throws IOException {
            registeredTurn = turn(context.channel().eventLoop());
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

    private static int turn(EventLoop loop) throws IOException {
        return TestLoops.driver(loop).engine().turn();
    }

    /** The server's time begins in the turn after that in which the channel was registered, at the latest. */
    private void awaitTimer(EventLoop loop) throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(SECONDS), () -> "the loop is in the turn of the registration",
                () -> Peers.await(loop.submit(() -> turn(loop))).getNow() != registeredTurn);
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
            awaitTimer(accepted.eventLoop());
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

    @OnEachLane(linksOnly = true)
    void anAnswerThatCameInTimeHasTheRestOfTheTimeFollow() throws Exception {
        assertAnswerIsHeard(AMPLE_MILLIS, LITTLE_MILLIS);
    }

    /** The time that the loop was held up for is not the server's either. */
    @OnEachLane(linksOnly = true)
    void anAnswerThatALoopCouldNotTakeHasTheRestOfTheTimeFollow() throws Exception {
        // More than the whole time to connect in has gone by then. Without what the loop was held up for it is half of it.
        assertAnswerIsHeard(2 * ANSWER_MILLIS, ANSWER_MILLIS + 200);
    }

    private void assertAnswerIsHeard(int connectMillis, long lateMillis) throws Exception {
        UcxServerSocketChannel asked = peers.listen(
                peers.server(Inbox::new).childOption(UcxChannelOption.TRANSLATED_ADDRESSES, true)
                        .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, AMPLE_MILLIS));
        try (HeldAnswer between = new HeldAnswer(asked.localAddress());
                Announcement forged = Announcement.open(between.address())) {
            assertNotNull(forged);
            ChannelFuture connect = peers.client(new Inbox())
                    .option(UcxChannelOption.CONNECT_MODE, UcxConnectMode.ANNOUNCED)
                    .option(UcxChannelOption.TRANSLATED_ADDRESSES, true)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMillis).connect(between.address());
            between.answered.get(SECONDS, TimeUnit.SECONDS);
            Delay delay = new Delay(connect.channel().eventLoop(), ANSWER_MILLIS + lateMillis);
            delay.awaitLast();
            between.letGo.countDown();
            between.passed.get(SECONDS, TimeUnit.SECONDS);
            delay.end();
            UcxSocketChannel channel = (UcxSocketChannel) Peers.await(connect).channel();
            assertTrue(Lane.current().has(channel.lane()), channel::lane);
            Peers.await(channel.close());
        }
    }

    /** Passes bytes on between one client and a server, and keeps the server's first ones for a while. */
    private static final class HeldAnswer implements AutoCloseable {

        final CompletableFuture<Void> answered = new CompletableFuture<>();
        final CountDownLatch letGo = new CountDownLatch(1);
        final CompletableFuture<Void> passed = new CompletableFuture<>();
        private final ServerSocket listening = new ServerSocket();
        private final InetSocketAddress server;

        HeldAnswer(InetSocketAddress server) throws IOException {
            this.server = server;
            listening.bind(Peers.loopback(0));
            Thread.ofVirtual().start(this::pass);
        }

        InetSocketAddress address() {
            return (InetSocketAddress) listening.getLocalSocketAddress();
        }

        private void pass() {
            try (Socket client = listening.accept(); Socket upstream = new Socket(server.getAddress(), server.getPort())) {
                Thread sent = Thread.ofVirtual().start(() -> passOn(client, upstream));
                byte[] part = new byte[4096];
                int length = upstream.getInputStream().read(part);
                answered.complete(null);
                letGo.await();
                client.getOutputStream().write(part, 0, length);
                passed.complete(null);
                passOn(upstream, client);
                sent.join();
            } catch (IOException | InterruptedException e) {
                answered.completeExceptionally(e);
                passed.completeExceptionally(e);
            }
        }

        private static void passOn(Socket from, Socket to) {
            try {
                from.getInputStream().transferTo(to.getOutputStream());
                to.shutdownOutput();
            } catch (IOException e) {
                // An end as well.
            }
        }

        @Override
        public void close() {
            try {
                listening.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
