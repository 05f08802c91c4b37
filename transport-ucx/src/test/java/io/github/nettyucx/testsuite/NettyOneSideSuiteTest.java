// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.ServerSocketSuspendTest;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputByPeerTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputBySelfTest;
import io.netty.testsuite.transport.socket.WriteBeforeRegisteredTest;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Netty's own tests for stream sockets that have a channel on one side, and on the other nobody or a {@link Socket}.
 */
@ExtendWith(LeakReports.class)
class NettyOneSideSuiteTest {

    private static final int TIMEOUT_SECONDS = 20;
    private static final int PAUSE_MILLIS = 100;
    private static final int CONNECT_TIMEOUT_MILLIS = 1000;

    private static final SuiteLoops LOOPS = new SuiteLoops("suite-one-side");

    private static final BootstrapFactory<ServerBootstrap> SERVER =
            () -> Pair.takingAnyPeer(new ServerBootstrap(), LOOPS);
    private static final BootstrapFactory<Bootstrap> CLIENT = () -> Pair.sayingNoHello(new Bootstrap(), LOOPS);
    /** One that expects servers of UCX. */
    private static final BootstrapFactory<Bootstrap> UCX_CLIENT = () -> Pair.expectingUcx(new Bootstrap(), LOOPS);

    // ------------------------------------------------------------------------------------------- as they are

    @Nested
    class WriteBeforeRegistered extends WriteBeforeRegisteredTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(CLIENT, UCX_CLIENT);
        }
    }

    @Nested
    class ChannelNotYetConnected extends SocketChannelNotYetConnectedTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(CLIENT);
        }
    }

    @Nested
    class ShutdownOutputByPeer extends SocketShutdownOutputByPeerTest {
        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return List.of(SERVER);
        }
    }

    // ------------------------------------------------------------------------------------------- with more time

    @Nested
    class ConnectionAttempt extends SocketConnectionAttemptTest {

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(CLIENT, UCX_CLIENT);
        }

        /** Netty's test allows the loop one second more than the time-out. */
        @Override
        public void testConnectTimeout(Bootstrap bootstrap) throws Throwable {
            ChannelFuture connect = bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                    .handler(new ChannelInboundHandlerAdapter()).connect(SilentServer.address());
            try {
                assertTrue(connect.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                assertInstanceOf(ConnectTimeoutException.class, connect.cause());
            } finally {
                connect.channel().close().sync();
            }
        }

        /** Netty's test allows the loop half a second. */
        @Override
        public void testConnectCancellation(Bootstrap bootstrap) throws Throwable {
            // The time-out does not close the channel before that.
            ChannelFuture connect = bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 2000 * TIMEOUT_SECONDS)
                    .handler(new ChannelInboundHandlerAdapter()).connect(SilentServer.address());
            try {
                assertFalse(connect.await(PAUSE_MILLIS), () -> "not under way: " + connect);
                assertTrue(connect.cancel(true));
                assertTrue(connect.channel().closeFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                assertTrue(connect.isCancelled());
            } finally {
                connect.channel().close().sync();
            }
        }
    }

    @Nested
    class SingleThreadEventLoopOfUcx extends AbstractSingleThreadEventLoopTest {

        /** Netty's tests expect an answer within a second. The first loop of a process waits for much to be loaded. */
        @BeforeAll
        static void beginAndEndOne() {
            EventLoopGroup first = TestLoops.newGroup(1);
            first.submit(() -> { }).syncUninterruptibly();
            first.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        }

        /** Loops of Netty 4.2 do not tell their channels, with whatever transport. */
        @Override
        protected boolean supportsChannelIteration() {
            return ((SingleThreadEventLoop) TestLoops.first(LOOPS.loops)).registeredChannels() >= 0;
        }

        /** One loop: it has less to be started and ended. */
        @Override
        protected EventLoopGroup newEventLoopGroup() {
            return TestLoops.newGroup(1);
        }

        /** For Netty 4.2, whose loops can be suspended while others do their work; those of 4.1 cannot. */
        protected EventLoopGroup newAutoScalingEventLoopGroup() {
            return null;
        }

        @Override
        protected Channel newChannel() {
            return new UcxServerSocketChannel();
        }

        @Override
        protected Class<? extends ServerChannel> serverChannelClass() {
            return UcxServerSocketChannel.class;
        }

        // Netty's tests allow 200 to 600 ms, in which a thread that has just been started need not have run at all. What is
        // not to be waited for takes three times as long as is allowed here.

        @Test
        @Override
        @SuppressWarnings("deprecation")
        public void shutdownBeforeStart() throws Exception {
            EventLoopGroup group = newEventLoopGroup();
            assertFalse(group.isTerminated());
            group.shutdown();
            assertTrue(group.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }

        @Test
        @Override
        public void shutdownGracefullyZeroQuietBeforeStart() throws Exception {
            assertEnds(newEventLoopGroup(), 0);
        }

        @Test
        @Override
        public void shutdownGracefullyBeforeStart() throws Exception {
            assertEnds(newEventLoopGroup(), PAUSE_MILLIS);
        }

        @Test
        @Override
        public void gracefulShutdownAfterStart() throws Exception {
            EventLoop loop = TestLoops.first(newEventLoopGroup());
            loop.submit(() -> { }).sync();
            assertEnds(loop, PAUSE_MILLIS);
            assertThrows(RejectedExecutionException.class, () -> loop.execute(() -> { }));
        }

        /** Of a loop that has a channel. */
        @Test
        @Override
        public void testShutdownGracefullyNoQuietPeriod() throws Exception {
            EventLoopGroup group = newEventLoopGroup();
            Channel server = new ServerBootstrap().group(group).channel(serverChannelClass())
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(0).sync().channel();
            assertEnds(group, 0);
            assertFalse(server.isOpen());
        }

        private static void assertEnds(EventExecutorGroup group, long quietMillis) throws Exception {
            Future<?> end = group.shutdownGracefully(quietMillis, 3000 * TIMEOUT_SECONDS, TimeUnit.MILLISECONDS);
            assertTrue(group.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertTrue(end.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertTrue(end.isSuccess());
            assertTrue(group.isShutdown());
            assertTrue(group.isTerminated());
        }
    }

    // ------------------------------------------------------------------------------------------- switched off by Netty

    /**
     * Netty's test, which it has switched off, connects more clients than the backlog holds, before anybody accepts: Linux
     * has the rest of them wait until they give up.
     */
    @Nested
    class ServerSocketSuspend extends ServerSocketSuspendTest {

        private static final int CONNECTIONS = 10;

        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return List.of(SERVER);
        }

        @Test
        @Timeout(TIMEOUT_SECONDS)
        @Override
        public void testSuspendAndResumeAccept(TestInfo info) throws Throwable {
            run(info, this::testSuspendAndResumeAccept);
        }

        @Override
        public void testSuspendAndResumeAccept(ServerBootstrap bootstrap) throws Throwable {
            BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
            Channel server = bootstrap.option(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            accepted.add(context.channel());
                        }

                        @Override
                        public boolean isSharable() {
                            return true;
                        }
                    }).bind().sync().channel();
            InetSocketAddress address = (InetSocketAddress) server.localAddress();
            List<Socket> sockets = new ArrayList<>();
            try {
                for (int i = 0; i < CONNECTIONS; i++) {
                    sockets.add(new Socket(address.getAddress(), address.getPort()));
                }
                assertNull(accepted.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));

                server.config().setAutoRead(true);
                for (int i = 0; i < CONNECTIONS; i++) {
                    assertNotNull(accepted.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                }
            } finally {
                for (Socket socket : sockets) {
                    socket.close();
                }
                server.close().sync();
            }
        }
    }

    @Nested
    class ShutdownOutputBySelf extends SocketShutdownOutputBySelfTest {

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(CLIENT);
        }

        /** A write from another thread changes the writability while it waits for the loop; here the loop writes. */
        @Test
        @Timeout(TIMEOUT_SECONDS)
        @Override
        public void testWriteAfterShutdownOutputNoWritabilityChange(TestInfo info) throws Throwable {
            run(info, this::testWriteAfterShutdownOutputNoWritabilityChange);
        }

        @Override
        public void testWriteAfterShutdownOutputNoWritabilityChange(Bootstrap bootstrap) throws Throwable {
            BlockingQueue<Boolean> writable = new LinkedBlockingQueue<>();
            bootstrap.option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(2, 4))
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelWritabilityChanged(ChannelHandlerContext context) {
                            writable.add(context.channel().isWritable());
                        }
                    });
            try (ServerSocket server = new ServerSocket()) {
                server.bind(newSocketAddress());
                SocketChannel channel =
                        (SocketChannel) bootstrap.connect(server.getLocalSocketAddress()).sync().channel();
                try (Socket peer = server.accept()) {
                    ChannelFuture write = channel.eventLoop().submit(() -> channel.write(sixBytes())).get();
                    assertEquals(false, writable.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    channel.flush();
                    write.sync();
                    assertEquals(true, writable.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    assertEquals(6, peer.getInputStream().readNBytes(6).length);

                    channel.shutdownOutput().sync();
                    assertEquals(-1, peer.getInputStream().read());
                    assertTrue(channel.isActive());
                    ChannelFuture late =
                            channel.eventLoop().submit(() -> channel.writeAndFlush(sixBytes())).get().await();
                    assertInstanceOf(ClosedChannelException.class, late.cause());
                    assertNull(writable.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
                } finally {
                    channel.close().sync();
                }
            }
        }

        private static ByteBuf sixBytes() {
            return Unpooled.wrappedBuffer(new byte[6]);
        }
    }
}
