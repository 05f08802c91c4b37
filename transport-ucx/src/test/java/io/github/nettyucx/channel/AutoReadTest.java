// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Auto-read is switched off by another thread than the loop's, which learns of that some time later. */
class AutoReadTest {

    private static final int SECONDS = 15;

    private final Inbox child = new Inbox();
    private final Inbox answers = new Inbox();
    private Peers peers;
    private Channel client;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** With its first read begun. */
    private void connect() throws Exception {
        client = peers.connect(peers.listen(() -> child), answers);
        answers.awaitActive();
        Peers.await(client.eventLoop().submit(() -> { }));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Has the loop do something, wait until this thread has done something else, and then do the rest. */
    private void whileTheLoopIsBusy(Runnable before, Runnable meanwhile, Runnable after) throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        client.eventLoop().execute(() -> {
            before.run();
            busy.countDown();
            await(done);
            after.run();
        });
        await(busy);
        meanwhile.run();
        done.countDown();
        // Behind what the loop has been told.
        Peers.await(client.eventLoop().submit(() -> { }));
    }

    private void switchOff() {
        client.config().setAutoRead(false);
    }

    private void switchOnAndOff() {
        client.config().setAutoRead(true);
        client.config().setAutoRead(false);
    }

    private void say(String text) throws Exception {
        Peers.await(child.awaitActive().writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1)));
    }

    /** What is said now is read when auto-read is on again, and not before. */
    private void assertPaused(String before) throws Exception {
        say("late");
        // What must not come cannot be waited for but by a time.
        TimeUnit.MILLISECONDS.sleep(200);
        assertEquals(before, answers.text());
        client.config().setAutoRead(true);
        answers.awaitText(before + "late");
    }

    @OnEachLane
    void aReadThatTheApplicationHasAskedForSinceIsNotTakenBack() throws Exception {
        connect();
        whileTheLoopIsBusy(() -> { }, this::switchOff, client::read);
        say("asked for");
        answers.awaitText("asked for");
        assertPaused("asked for");
    }

    /** The read that comes of switching it on is none that the application has asked for. */
    @OnEachLane
    void aPauseThatWasInterruptedForAMomentGoesOn() throws Exception {
        connect();
        whileTheLoopIsBusy(this::switchOff, this::switchOnAndOff, () -> { });
        assertPaused("");
    }

    @OnEachLane
    void aReadThatTheApplicationWaitsForIsNotTakenBackByThat() throws Exception {
        connect();
        whileTheLoopIsBusy(() -> {
            switchOff();
            client.read();
        }, this::switchOnAndOff, () -> { });
        say("asked for");
        answers.awaitText("asked for");
    }

    /** What auto-read itself has begun ends with it. */
    @OnEachLane
    void nothingIsReadThatNobodyHasAskedFor() throws Exception {
        connect();
        switchOff();
        Peers.await(client.eventLoop().submit(() -> { }));
        assertPaused("");
    }

    @OnEachLane
    void aServerAcceptsTheConnectionThatItWasAskedFor() throws Exception {
        Channel server = peers.listen(peers.server(() -> child).handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext context, Object event) {
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
        child.awaitActive();
    }
}
