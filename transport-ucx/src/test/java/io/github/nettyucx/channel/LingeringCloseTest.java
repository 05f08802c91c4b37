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
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.pool.ChannelHealthChecker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A channel that is closed, and still delivers what was flushed before. */
class LingeringCloseTest {

    private static final int MIB = 1024 * 1024;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** A pool asks whether a channel that it is given back is active. */
    @OnEachLane
    void isNotActiveAnyMore() throws Exception {
        Inbox child = Inbox.ofMany();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
        List<Boolean> writable = new CopyOnWriteArrayList<>();
        Inbox inbox = new Inbox() {
            @Override
            public void channelWritabilityChanged(ChannelHandlerContext context) {
                writable.add(context.channel().isWritable());
            }
        };
        Channel client = peers.connect(server, inbox);
        Channel accepted = child.awaitActive();
        ChannelFuture[] write = new ChannelFuture[1];
        Peers.await(client.eventLoop().submit(() -> {
            write[0] = client.writeAndFlush(Unpooled.directBuffer(16 * MIB).writeZero(16 * MIB));
            ChannelFuture closed = client.close();
            assertFalse(closed.isDone(), "nothing is left to be delivered");
            assertFalse(client.isActive());
            assertFalse(ChannelHealthChecker.ACTIVE.isHealthy(client).getNow());
            ChannelFuture late = client.writeAndFlush(Unpooled.copyInt(1));
            assertInstanceOf(ClosedChannelException.class, late.cause());
            return null;
        }));
        accepted.config().setAutoRead(true);
        Peers.await(write[0]);
        Peers.await(client.closeFuture());
        inbox.awaitInactive();
        child.awaitInactive();
        assertEquals(List.of(), inbox.exceptions());
        assertEquals(List.of(), child.exceptions());
        // By the write. A channel that is closed does not become writable.
        assertEquals(List.of(false), writable);
    }

    /** It would keep a channel that somebody has closed, with all that it is to be sent, for as long as it likes. */
    @OnEachLane
    void endsInTimeWithAPeerThatTakesNextToNothing() throws Exception {
        int closeTimeoutMillis = 500;
        AtomicLong gap = new AtomicLong();
        AtomicLong last = new AtomicLong(System.nanoTime());
        // Takes less in the close timeout than Linger.LEAST_PROGRESS_BYTES, and more than nothing.
        Channel server = peers.listen(peers.server(() -> new SlowReader(200) {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                long now = System.nanoTime();
                gap.accumulateAndGet(now - last.getAndSet(now), Math::max);
                super.channelRead(context, message);
            }
        }).childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.SO_RCVBUF, 16 * 1024)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(16 * 1024).maxMessagesPerRead(1)));
        Channel client = Peers.connect(peers.client(new Inbox())
                .option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, closeTimeoutMillis), server);
        long start = System.nanoTime();
        ChannelFuture write = client.writeAndFlush(Unpooled.directBuffer(16 * MIB).writeZero(16 * MIB));
        Peers.await(client.close());
        long end = System.nanoTime();
        gap.accumulateAndGet(end - last.get(), Math::max);
        long millis = TimeUnit.NANOSECONDS.toMillis(end - start);
        assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(write));
        // Over a link each read of the peer's is told at once here. A kernel tells of more at a time, and a busy machine of none.
        int periods = Lane.current().isLink() && gap.get() < TimeUnit.MILLISECONDS.toNanos(closeTimeoutMillis * 4 / 5) ? 7 : 1;
        assertTrue(millis >= periods * closeTimeoutMillis - 20, () -> "closed after " + millis + " ms");
    }

    /** Far less in the close timeout than a quarter of the window, which is what credit is given for at once. */
    @OnEachLane(linksOnly = true)
    void lastsWhileASlowPeerReads() throws Exception {
        int window = 4 * MIB;
        int total = window + 128 * 1024;
        AtomicInteger received = new AtomicInteger();
        AtomicInteger pause = new AtomicInteger(50);
        Inbox child = new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) throws Exception {
                super.channelActive(context);
                context.read();
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                received.addAndGet(((ByteBuf) message).readableBytes());
                ((ByteBuf) message).release();
                context.executor().schedule(context::read, pause.get(), TimeUnit.MILLISECONDS);
            }
        };
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, window)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(8 * 1024).maxMessagesPerRead(1)));
        Inbox inbox = new Inbox();
        Channel client = Peers.connect(peers.client(inbox).option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, 3000), server);
        ChannelFuture write = client.writeAndFlush(Unpooled.directBuffer(total).writeZero(total));
        Peers.await(client.close());
        Peers.await(write);
        pause.set(0);
        child.awaitInactive();
        assertEquals(total, received.get());
        assertEquals(List.of(), child.exceptions());
    }

    /** What the peer has taken meanwhile is looked at before the time is called over. */
    @OnEachLane(linksOnly = true)
    void isNotCutBecauseItsOwnLoopWasBusy() throws Exception {
        int closeTimeoutMillis = 2000;
        Inbox child = new Inbox();
        Channel server = peers.listen(peers.server(() -> child).childOption(ChannelOption.AUTO_READ, false));
        Bootstrap bootstrap = peers.client(new Inbox()).option(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, closeTimeoutMillis);
        Channel client = Peers.connect(bootstrap, server);
        Channel accepted = child.awaitActive();
        ChannelFuture write = client.writeAndFlush(Unpooled.directBuffer(2 * MIB).writeZero(2 * MIB));
        CountDownLatch busy = new CountDownLatch(1);
        // Its turn of input and output ends with this, and the timers come next.
        CompletableFuture<ChannelHandlerContext> waking = new CompletableFuture<>();
        Channel other = Peers.connect(peers.client(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) throws InterruptedException {
                ((ByteBuf) message).release();
                accepted.config().setAutoRead(true);
                TimeUnit.MILLISECONDS.sleep(closeTimeoutMillis * 3 / 2);
                busy.countDown();
            }
        }).clone(client.eventLoop()), peers.listen(() -> new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                waking.complete(context);
            }
        }));
        ChannelHandlerContext context = waking.get(15, TimeUnit.SECONDS);
        ChannelFuture closed = client.close();
        context.writeAndFlush(Unpooled.copyInt(1));
        assertTrue(busy.await(15, TimeUnit.SECONDS));
        Peers.await(closed);
        Peers.await(write);
        Peers.await(other.close());
        assertEquals(List.of(), child.exceptions());
    }
}
