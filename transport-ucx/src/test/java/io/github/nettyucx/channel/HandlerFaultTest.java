// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.DelegatingHandle;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Handlers, listeners and allocators that throw do what they do with Netty's NIO transport, and nothing worse. */
class HandlerFaultTest {

    private static final int SECONDS = 15;
    private static final int AT_A_TIME = 12;
    /** More than UCX takes before somebody reads. */
    private static final int IN_FLIGHT = 8 << 20;
    /** A ServerBootstrap's pause is a second; a timer's clock and this one may differ a little. */
    private static final long BOOTSTRAPS_PAUSE_MILLIS = 990;

    private LeakWatch leaks;

    @BeforeEach
    void watchLeaks() {
        leaks = new LeakWatch();
    }

    @AfterEach
    void assertNothingLeft() {
        leaks.assertNothingLeft();
    }

    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET}, timeoutSeconds = 180)
    void whateverThrowsItIsAsWithNio() throws Exception {
        compareAll();
    }

    @Tag("faults")
    @OnEachLane(lanes = Lane.TCP, timeoutSeconds = 180)
    void whateverThrowsItIsAsWithNioOverUcxsTcp() throws Exception {
        compareAll();
    }

    private void compareAll() throws Exception {
        EventLoopGroup nio = new NioEventLoopGroup(2);
        EventLoopGroup ucx = TestLoops.newGroup(2);
        // Most of the time of an exchange is waiting for what shall not happen.
        try (ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME)) {
            List<java.util.concurrent.Future<?>> exchanges = new ArrayList<>();
            for (Fault fault : Fault.values()) {
                if (fault.isTheLoops()) {
                    continue;
                }
                exchanges.add(threads.submit(() -> compare(fault, true, nio, ucx)));
                exchanges.add(threads.submit(() -> compare(fault, false, nio, ucx)));
            }
            for (java.util.concurrent.Future<?> exchange : exchanges) {
                exchange.get();
            }
            // The loops go on as if nothing had happened.
            for (int i = 0; i < AT_A_TIME; i++) {
                assertEquals("client read", ucxExchange(Fault.NONE, true, ucx).answer());
            }
            leaks.awaitNoBuffers();
        } finally {
            end(nio);
            end(ucx);
        }
    }

    @OnEachLane(timeoutSeconds = 120)
    void whatTheLoopOfAListenerGetsIsTriedAgainAsWithNio() throws Exception {
        compareAlone(Fault.NEW_HANDLE_OF_LISTENER, true);
    }

    /** As with an accept that fails: the loop of the listener does not rest, nor does it try in each turn. */
    @OnEachLane(lanes = Lane.SOCKET)
    void aListenerWhoseAllocatorThrowsIsToldAndPauses() throws Exception {
        EventLoopGroup loops = TestLoops.newGroup(1);
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        UnwillingAllocator allocator = new UnwillingAllocator();
        try {
            Channel server = Peers.await(new ServerBootstrap().group(loops).channel(UcxServerSocketChannel.class)
                    .option(ChannelOption.RCVBUF_ALLOCATOR, allocator)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            told.add(cause);
                            context.fireExceptionCaught(cause);
                        }
                    }).childHandler(new ChannelInboundHandlerAdapter()).bind(Peers.loopback(0))).channel();
            Peers.await(new Bootstrap().group(loops).channel(UcxSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()));
            assertEquals(1, told.size(), told::toString);
            assertSame(allocator.thrown, told.element());
            long millis = TimeUnit.NANOSECONDS.toMillis(allocator.secondNanos - allocator.firstNanos);
            assertTrue(millis >= BOOTSTRAPS_PAUSE_MILLIS, () -> "tried again after " + millis + " ms");
        } finally {
            end(loops);
        }
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void aListenerWhoseAllocatorThrowsAtTheEndOfAReadGoesOn() throws Exception {
        EventLoopGroup loops = TestLoops.newGroup(1);
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        try {
            Channel server = Peers.await(new ServerBootstrap().group(loops).channel(UcxServerSocketChannel.class)
                    .option(ChannelOption.RCVBUF_ALLOCATOR, new UnfinishedReads(1))
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            told.add(cause);
                        }
                    }).childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            // Without a handler.
                        }
                    }).bind(Peers.loopback(0))).channel();
            for (int i = 0; i < 3; i++) {
                Peers.await(new Bootstrap().group(loops).channel(UcxSocketChannel.class)
                        .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()));
            }
            assertTrue(told.size() >= 3, told::toString);
        } finally {
            end(loops);
        }
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void aConnectionWhoseCountingThrowsIsThereAllTheSame() throws Exception {
        EventLoopGroup loops = TestLoops.newGroup(1);
        Queue<Throwable> told = new ConcurrentLinkedQueue<>();
        Inbox child = new Inbox();
        try {
            Channel server = Peers.await(new ServerBootstrap().group(loops).channel(UcxServerSocketChannel.class)
                    .option(ChannelOption.RCVBUF_ALLOCATOR, new UncountingAllocator())
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            told.add(cause);
                        }
                    }).childHandler(child).bind(Peers.loopback(0))).channel();
            Peers.await(new Bootstrap().group(loops).channel(UcxSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()));
            child.awaitActive();
            assertEquals(1, told.size(), told::toString);
        } finally {
            end(loops);
        }
    }

    /** Throws when a connection is counted, once. */
    @SuppressWarnings("deprecation")
    private static final class UncountingAllocator extends FixedRecvByteBufAllocator {

        private boolean thrown;

        UncountingAllocator() {
            super(1);
        }

        @Override
        public Handle newHandle() {
            return new DelegatingHandle(super.newHandle()) {
                @Override
                public void lastBytesRead(int bytes) {
                    if (!thrown) {
                        thrown = true;
                        throw new IllegalStateException("uncounted, as the test wants it");
                    }
                    super.lastBytesRead(bytes);
                }
            };
        }
    }

    /** Throws when it is asked for its first handle. */
    @SuppressWarnings("deprecation")
    private static final class UnwillingAllocator extends FixedRecvByteBufAllocator {

        private final IllegalStateException thrown = new IllegalStateException("unwilling, as the test wants it");
        private volatile long firstNanos;
        private volatile long secondNanos;

        UnwillingAllocator() {
            super(1);
        }

        @Override
        public Handle newHandle() {
            if (firstNanos == 0) {
                firstNanos = System.nanoTime();
                throw thrown;
            }
            secondNanos = System.nanoTime();
            return super.newHandle();
        }
    }

    /** Netty's own loops would rest for a second, and all their channels with them. */
    @OnEachLane(timeoutSeconds = 180)
    void whatNobodyGuardsAgainstEndsItsChannelAndNoOther() throws Exception {
        EventLoopGroup loops = TestLoops.newGroup(2);
        try (ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME)) {
            List<java.util.concurrent.Future<?>> exchanges = new ArrayList<>();
            for (Fault fault : new Fault[] {Fault.NEW_HANDLE, Fault.HANDLE_RESET}) {
                for (boolean onServer : new boolean[] {true, false}) {
                    exchanges.add(threads.submit(() -> assertEndsItsChannel(fault, onServer, loops)));
                    exchanges.add(threads.submit(() -> {
                        String healthy = ucxExchange(Fault.NONE, onServer, loops).run();
                        assertTrue(healthy.contains("answer sent") && !healthy.contains("caught"), healthy);
                        return null;
                    }));
                }
            }
            for (java.util.concurrent.Future<?> exchange : exchanges) {
                exchange.get();
            }
        } finally {
            end(loops);
        }
    }

    /** As what its socket's events make it throw. */
    @OnEachLane
    void whatALaneThrowsEndsItsChannelAndNoOther() throws Exception {
        try (Peers peers = new Peers()) {
            Inbox faulty = new Inbox();
            UcxServerSocketChannel server = peers.listen(Inbox::new);
            UcxSocketChannel channel = peers.connect(server, faulty);
            UcxSocketChannel other = peers.connect(server, new Inbox());
            IllegalStateException thrown = new IllegalStateException("a lane cannot go on, as the test wants it");
            channel.eventLoop().execute(() -> channel.connection().lane().faulted(thrown));
            Peers.await(channel.closeFuture());
            faulty.awaitInactive();
            assertSame(thrown, faulty.exceptions().getFirst());
            assertTrue(other.isActive());
        }
    }

    private Void assertEndsItsChannel(Fault fault, boolean onServer, EventLoopGroup loops) throws InterruptedException {
        FaultyExchange exchange = ucxExchange(fault, onServer, loops);
        String seen = exchange.run();
        String faulty = seen.substring(seen.indexOf(onServer ? "server" : "client"));
        assertTrue(exchange.hasThrown(), () -> fault + " was never thrown");
        assertTrue(faulty.startsWith((onServer ? "server" : "client") + " [active, caught "), seen);
        assertTrue(seen.contains("inactive"), seen);
        return null;
    }

    /**
     * An application that releases a buffer too often which is being sent. With Netty's own transports the write fails, and
     * the output of its channel ends.
     */
    @OnEachLane(linksOnly = true, timeoutSeconds = 120)
    void aBufferThatIsReleasedTooOftenEndsItsChannelAndNoOther() throws Exception {
        Logger log = (Logger) LoggerFactory.getLogger(IoDriver.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        log.addAppender(logged);
        // Freed by nobody, however often it is released: UCX reads it.
        ByteBuffer memory = ByteBuffer.allocateDirect(IN_FLIGHT);
        try (Peers peers = new Peers()) {
            Inbox reader = new Inbox();
            Inbox alive = new Inbox();
            Channel slow = peers.listen(peers.server(() -> reader).childOption(ChannelOption.AUTO_READ, false)
                    .childOption(ChannelOption.SO_RCVBUF, 8 * IN_FLIGHT));
            Inbox faulty = new Inbox();
            Channel channel = peers.connect(slow, faulty);
            Channel healthy = peers.connect(peers.listen(() -> alive), new Inbox());
            ChannelFuture written = Peers.await(channel.eventLoop().submit(() -> {
                ByteBuf buffer = Unpooled.wrappedBuffer(memory);
                ChannelFuture write = channel.writeAndFlush(buffer);
                assertTrue(buffer.refCnt() > 1, "nothing is in flight");
                buffer.release(buffer.refCnt());
                return write;
            })).getNow();
            reader.awaitActive().config().setAutoRead(true);
            Throwable cause = Peers.awaitFailure(written);
            assertInstanceOf(IllegalReferenceCountException.class, cause.getCause());
            Peers.await(channel.closeFuture());
            assertEquals(List.of(cause), faulty.exceptions());
            Peers.await(healthy.writeAndFlush(Unpooled.copiedBuffer("alive", StandardCharsets.US_ASCII)));
            alive.awaitText("alive");
        } finally {
            log.detachAppender(logged);
        }
        assertEquals(List.of(), logged.list, "the loop has rested, with all that are on it");
    }

    private Void compareAlone(Fault fault, boolean onServer) throws InterruptedException {
        EventLoopGroup nio = new NioEventLoopGroup(2);
        EventLoopGroup ucx = TestLoops.newGroup(2);
        try {
            return compare(fault, onServer, nio, ucx);
        } finally {
            end(nio);
            end(ucx);
        }
    }

    private Void compare(Fault fault, boolean onServer, EventLoopGroup nio, EventLoopGroup ucx)
            throws InterruptedException {
        String expected = new FaultyExchange(fault, onServer, nio, NioServerSocketChannel.class,
                NioSocketChannel.class, leaks.allocator).run();
        FaultyExchange exchange = ucxExchange(fault, onServer, ucx);
        String actual = exchange.run();
        String what = fault + (onServer ? " at the server: " : " at the client: ");
        System.out.println(what + actual);
        assertEquals(expected, actual, what);
        assertTrue(exchange.hasThrown() || fault == Fault.NONE, () -> fault + " was never thrown");
        return null;
    }

    private FaultyExchange ucxExchange(Fault fault, boolean onServer, EventLoopGroup group) {
        return new FaultyExchange(fault, onServer, group, UcxServerSocketChannel.class, UcxSocketChannel.class,
                leaks.allocator);
    }

    private static void end(EventLoopGroup group) {
        Future<?> ended = group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        assertTrue(ended.awaitUninterruptibly(2 * SECONDS, TimeUnit.SECONDS), "the loops do not end");
    }
}
