// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.CloseReason;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Messages over a link can be faster than the last words of the handshake, which go over the socket: they are there
 * before the channel is active. On lane socket the stream follows those words, and cannot overtake them.
 */
class EarlyDataTest {

    private static final int LENGTH = 5;
    private static final String TEXT = "\0".repeat(LENGTH);
    private static final long SECONDS = 15;
    /** Before a handshake is given up, 10 s; a busy machine may take most of that. */
    private static final long PROMPTLY_MILLIS = 8000;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane(linksOnly = true)
    void aReadThatWasAskedForBeforeTheChannelIsActiveGetsThem() throws Exception {
        Inbox child = new Inbox() {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                context.read();
            }
        };
        // Nobody asks again.
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect((InetSocketAddress) server.localAddress());
            client.greetUpToGo();
            client.send(ForgingPeer.DATA, 0, LENGTH);
            // Long enough for the server to have taken it; the test holds as well if it has not.
            Peers.await(server.eventLoop().schedule(() -> { }, 50, TimeUnit.MILLISECONDS));
            assertEquals("", child.text(), "the channel is not open yet");
            client.sayGo();
            client.until(() -> child.text().equals(TEXT), "the child does not read what was sent early");
        }
    }

    @OnEachLane(linksOnly = true)
    void aPeerWhoseEndIsThereWithItsLastWordIsNotWaitedFor() throws Exception {
        CompletableFuture<UcxSocketChannel> registered = new CompletableFuture<>();
        Inbox child = new Inbox() {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                registered.complete((UcxSocketChannel) context.channel());
            }
        };
        UcxServerSocketChannel server = peers.listen(() -> child);
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            client.greetUpToGo();
            client.awaitLink();
            UcxSocketChannel accepted = registered.get(SECONDS, TimeUnit.SECONDS);
            CountDownLatch gone = new CountDownLatch(1);
            CountDownLatch held = new CountDownLatch(1);
            // GO, the stream with its end, and the end of the socket are all there in the loop's next turn.
            Future<?> heldUp = accepted.eventLoop().submit(() -> {
                held.countDown();
                assertTrue(gone.await(SECONDS, TimeUnit.SECONDS));
                return null;
            });
            assertTrue(held.await(SECONDS, TimeUnit.SECONDS));
            client.sayGo();
            client.send(ForgingPeer.DATA, 0, LENGTH);
            client.send(ForgingPeer.FIN, 1, 0);
            client.hangUp();
            long start = System.nanoTime();
            gone.countDown();
            Peers.await(heldUp);
            client.until(accepted.closeFuture()::isDone, "the channel stays");
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis < PROMPTLY_MILLIS, () -> "closed after " + millis + " ms");
            assertEquals(TEXT, child.text());
            assertTrue(child.exceptions().isEmpty(), () -> "an orderly end: " + child.exceptions());
        }
    }

    @OnEachLane(linksOnly = true)
    void aClosedChannelDoesNotWaitForAPeerThatHasGoneWithItsLastWord() throws Exception {
        // The close comes first, and then GO and the end of the socket in one turn.
        assertIsSoonOver(new Inbox(), Channel::close);
    }

    @OnEachLane(linksOnly = true)
    void norDoesOneThatIsClosedWhenItBecomesActive() throws Exception {
        assertIsSoonOver(new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                context.close();
            }
        }, accepted -> { });
    }

    /** The loop is kept until GO and the end of the socket are both there. Nothing is left of the channel soon after. */
    private void assertIsSoonOver(Inbox child, Consumer<UcxSocketChannel> first) throws Exception {
        CompletableFuture<UcxSocketChannel> registered = new CompletableFuture<>();
        UcxServerSocketChannel server = peers.listen(() -> new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                registered.complete((UcxSocketChannel) channel);
                channel.pipeline().addLast(child);
            }
        });
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            client.greetUpToGo();
            client.awaitLink();
            UcxSocketChannel accepted = registered.get(SECONDS, TimeUnit.SECONDS);
            CountDownLatch gone = new CountDownLatch(1);
            CountDownLatch held = new CountDownLatch(1);
            Future<?> heldUp = accepted.eventLoop().submit(() -> {
                first.accept(accepted);
                held.countDown();
                assertTrue(gone.await(SECONDS, TimeUnit.SECONDS));
                return null;
            });
            assertTrue(held.await(SECONDS, TimeUnit.SECONDS));
            client.sayGo();
            client.hangUp();
            long start = System.nanoTime();
            gone.countDown();
            Peers.await(heldUp);
            // For the application it is closed at once; what waits for the peer is behind that.
            client.until(accepted::isOver, "the channel stays");
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis < PROMPTLY_MILLIS, () -> "over after " + millis + " ms");
            assertFalse(accepted.isOpen());
        }
    }

    /** In the handshake, or after it: the kernel may bring what was said last a little later. */
    private long violations() {
        UcxMetrics metrics = TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
        return metrics.handshakesFailed(HandshakeFailure.PROTOCOL_VIOLATION)
                + metrics.connectionsClosed(CloseReason.PROTOCOL_VIOLATION);
    }

    @OnEachLane(linksOnly = true)
    void bytesOnTheSocketBehindTheLastWordBreakTheProtocol() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(() -> child);
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            client.greetUpToGo();
            client.awaitLink();
            CountDownLatch said = new CountDownLatch(1);
            CountDownLatch held = new CountDownLatch(1);
            // So that the server reads all of it at once.
            Future<?> heldUp = server.eventLoop().submit(() -> {
                held.countDown();
                assertTrue(said.await(SECONDS, TimeUnit.SECONDS));
                return null;
            });
            assertTrue(held.await(SECONDS, TimeUnit.SECONDS));
            client.sayGo();
            client.say(new byte[] {'x'});
            said.countDown();
            Peers.await(heldUp);
            client.awaitEnd();
            client.until(() -> violations() == 1, "it is no violation");
            assertEquals("", child.text());
        }
    }
}
