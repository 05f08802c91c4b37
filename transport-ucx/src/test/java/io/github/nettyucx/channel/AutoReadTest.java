// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Auto-read is switched off by another thread than the loop's, which learns of that some time later. */
class AutoReadTest {

    private static final int SECONDS = 15;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(SECONDS, TimeUnit.SECONDS));
    }

    @OnEachLane
    void aReadThatTheApplicationHasAskedForSinceIsNotTakenBack() throws Exception {
        Inbox inbox = new Inbox();
        Channel server = peers.listen(() -> inbox);
        Inbox answers = new Inbox();
        Channel client = peers.connect(server, answers);
        Channel accepted = inbox.awaitActive();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch off = new CountDownLatch(1);
        client.eventLoop().execute(() -> {
            busy.countDown();
            try {
                await(off);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            client.read();
        });
        await(busy);
        client.config().setAutoRead(false);
        off.countDown();
        // Behind what the loop has been told.
        Peers.await(client.eventLoop().submit(() -> { }));
        accepted.writeAndFlush(Unpooled.copiedBuffer("asked for", StandardCharsets.ISO_8859_1));
        answers.awaitText("asked for");
        assertNull(Peers.await(accepted.writeAndFlush(Unpooled.copiedBuffer(", and not", StandardCharsets.ISO_8859_1)))
                .cause());
        // What must not come cannot be waited for but by a time.
        TimeUnit.MILLISECONDS.sleep(200);
        assertEquals("asked for", answers.text());
        client.config().setAutoRead(true);
        answers.awaitText("asked for, and not");
    }

    /** The read that comes of switching it on is none that the application has asked for. */
    @OnEachLane
    void aPauseThatWasInterruptedForAMomentGoesOn() throws Exception {
        Inbox inbox = new Inbox();
        Channel server = peers.listen(() -> inbox);
        Inbox answers = new Inbox();
        Channel client = peers.connect(server, answers);
        answers.awaitActive();
        Peers.await(client.eventLoop().submit(() -> client.config().setAutoRead(false)));
        CountDownLatch off = new CountDownLatch(1);
        client.eventLoop().execute(() -> {
            try {
                await(off);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        client.config().setAutoRead(true);
        client.config().setAutoRead(false);
        off.countDown();
        Peers.await(client.eventLoop().submit(() -> { }));
        Peers.await(inbox.awaitActive().writeAndFlush(Unpooled.copiedBuffer("late", StandardCharsets.ISO_8859_1)));
        // As above.
        TimeUnit.MILLISECONDS.sleep(200);
        assertEquals("", answers.text());
        client.config().setAutoRead(true);
        answers.awaitText("late");
    }

    @OnEachLane
    void aReadThatTheApplicationWaitsForIsNotTakenBackByThat() throws Exception {
        Inbox inbox = new Inbox();
        Channel server = peers.listen(() -> inbox);
        Inbox answers = new Inbox();
        Channel client = peers.connect(server, answers);
        answers.awaitActive();
        Peers.await(client.eventLoop().submit(() -> client.config().setAutoRead(false)));
        CountDownLatch off = new CountDownLatch(1);
        client.eventLoop().execute(() -> {
            client.read();
            try {
                await(off);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        client.config().setAutoRead(true);
        client.config().setAutoRead(false);
        off.countDown();
        Peers.await(client.eventLoop().submit(() -> { }));
        Peers.await(inbox.awaitActive().writeAndFlush(Unpooled.copiedBuffer("asked for", StandardCharsets.ISO_8859_1)));
        answers.awaitText("asked for");
    }

    /** What auto-read itself has begun ends with it. */
    @OnEachLane
    void nothingIsReadThatNobodyHasAskedFor() throws Exception {
        Inbox inbox = new Inbox();
        Channel server = peers.listen(() -> inbox);
        Inbox answers = new Inbox();
        Channel client = peers.connect(server, answers);
        // Its first read is begun by then.
        answers.awaitActive();
        Peers.await(client.eventLoop().submit(() -> { }));
        client.config().setAutoRead(false);
        Peers.await(client.eventLoop().submit(() -> { }));
        Peers.await(inbox.awaitActive().writeAndFlush(Unpooled.copiedBuffer("late", StandardCharsets.ISO_8859_1)));
        // As above.
        TimeUnit.MILLISECONDS.sleep(200);
        assertEquals("", answers.text());
        client.config().setAutoRead(true);
        answers.awaitText("late");
    }

    @OnEachLane
    void aServerAcceptsTheConnectionThatItWasAskedFor() throws Exception {
        Inbox inbox = new Inbox();
        Channel server = peers.listen(peers.server(() -> inbox).option(ChannelOption.AUTO_READ, true)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
                        await((CountDownLatch) event);
                        context.read();
                    }
                }));
        CountDownLatch off = new CountDownLatch(1);
        server.pipeline().fireUserEventTriggered(off);
        server.config().setAutoRead(false);
        off.countDown();
        Peers.await(server.eventLoop().submit(() -> { }));
        peers.connect(server, new Inbox());
        inbox.awaitActive();
    }
}
