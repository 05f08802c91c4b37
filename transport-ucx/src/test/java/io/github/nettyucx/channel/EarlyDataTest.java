// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.Worker;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Bytes can overtake the HELLO of the peer that sends them, and so be there before the channel is active. */
class EarlyDataTest {

    private static final int LENGTH = 5;
    private static final long SECONDS = 15;
    /** Far below the time after which a handshake is given up, 10 s. */
    private static final long PROMPTLY_MILLIS = 3000;
    /** One that does not say who it is. */
    private static final long FOREIGN_CLIENT = 0;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane
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
            client.hearHello();
            client.send(ForgingPeer.DATA, 0, LENGTH);
            client.sayHello();
            child.awaitActive();
            child.awaitText("\0".repeat(LENGTH));
        }
    }

    @OnEachLane
    void aPeerWhoseEndIsThereWithItsHelloIsNotWaitedFor() throws Exception {
        CompletableFuture<UcxSocketChannel> registered = new CompletableFuture<>();
        UcxServerSocketChannel server = peers.listen(() -> new Inbox() {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                registered.complete((UcxSocketChannel) context.channel());
            }
        });
        try (ForgingPeer client = new ForgingPeer()) {
            client.connect(server.localAddress());
            client.hearHello();
            UcxSocketChannel accepted = registered.get(SECONDS, TimeUnit.SECONDS);
            CountDownLatch gone = new CountDownLatch(1);
            Future<?> heldUp = accepted.eventLoop().submit(() -> {
                assertTrue(gone.await(SECONDS, TimeUnit.SECONDS));
                Worker worker = accepted.loopEngine()
                        .workerForAccepting(server.localAddress().getAddress(), FOREIGN_CLIENT);
                // UCX finds all of it before the next turn, as when a handler writes to others and takes its time.
                for (int i = 0; i < 50; i++) {
                    Thread.sleep(2);
                    worker.catchUp();
                }
                return null;
            });
            client.sayHello();
            client.send(ForgingPeer.DATA, 0, LENGTH);
            client.send(ForgingPeer.FIN, 1, 0);
            client.hangUp();
            long start = System.nanoTime();
            gone.countDown();
            client.until(heldUp::isDone, "the loop is still held up");
            Peers.await(heldUp);
            Peers.await(accepted.closeFuture());
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis < PROMPTLY_MILLIS, () -> "closed after " + millis + " ms");
        }
    }
}
