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
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.AbstractSocketShutdownOutputByPeerTest;
import io.netty.testsuite.transport.socket.ServerSocketSuspendTest;
import io.netty.testsuite.transport.socket.SocketAddressesTest;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import io.netty.testsuite.transport.socket.SocketDataReadInitialStateTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputBySelfTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Netty's own tests for stream sockets that leave something open: which classes to test, or how the other side is
 * reached, where Netty uses a plain TCP socket.
 */
@ExtendWith(LeakReports.class)
class NettySuiteWithPeersTest {

    private static final int TIMEOUT_SECONDS = 20;
    private static final int PAUSE_MILLIS = 100;

    @Nested
    class Addresses extends SocketAddressesTest {

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.socketWithFastOpen();
        }

        @Override
        protected void assertAddress(SocketAddress address) {
            InetSocketAddress inet = assertInstanceOf(InetSocketAddress.class, address);
            assertTrue(inet.getPort() > 0, inet::toString);
            assertFalse(inet.getAddress().isAnyLocalAddress(), inet::toString);
        }
    }

    @Nested
    class SingleThreadEventLoop extends AbstractSingleThreadEventLoopTest {

        /** Loops of Netty 4.2 do not tell their channels, with whatever transport. */
        @Override
        protected boolean supportsChannelIteration() {
            return ((io.netty.channel.SingleThreadEventLoop) UcxPermutation.INSTANCE.loops.iterator().next())
                    .registeredChannels() >= 0;
        }

        @Override
        protected EventLoopGroup newEventLoopGroup() {
            return TestLoops.newGroup(0);
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
    }

    @Nested
    class DataReadInitialState extends SocketDataReadInitialStateTest {

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.socket();
        }

        /** A connection is made when the server accepts it, and not before: no kernel accepts for a server that waits. */
        @Override
        public void testAutoReadOffNoDataReadUntilReadCalled(ServerBootstrap accepting, Bootstrap connecting)
                throws Throwable {
            accepting.option(ChannelOption.AUTO_READ, false).childOption(ChannelOption.AUTO_READ, false);
            connecting.option(ChannelOption.AUTO_READ, false);
            BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
            BlockingQueue<Integer> serverRead = new LinkedBlockingQueue<>();
            BlockingQueue<Integer> clientRead = new LinkedBlockingQueue<>();
            Channel server = accepting.childHandler(new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                public void channelActive(ChannelHandlerContext context) {
                    accepted.add(context.channel());
                }

                @Override
                protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                    context.writeAndFlush(bytes.retainedDuplicate());
                    serverRead.add((int) bytes.readByte());
                }
            }).bind().sync().channel();
            ChannelFuture connected = connecting.handler(new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                    clientRead.add((int) bytes.readByte());
                }
            }).connect(server.localAddress());
            try {
                assertNull(accepted.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
                assertFalse(connected.isDone());
                server.read();
                Channel child = accepted.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                connected.sync().channel().writeAndFlush(Unpooled.directBuffer(1).writeByte(1)).sync();

                assertNull(serverRead.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
                child.read();
                assertEquals(1, serverRead.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));

                assertNull(clientRead.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
                connected.channel().read();
                assertEquals(1, clientRead.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            } finally {
                connected.channel().close().sync();
                server.close().sync();
            }
        }
    }

    /** Disabled in Netty, because of macOS. */
    @Nested
    class ServerSocketSuspend extends ServerSocketSuspendTest {

        private static final int CONNECTIONS = 10;

        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.serverSocket();
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
            List<BlockingPeer> peers = Stream.generate(BlockingPeer::new).limit(CONNECTIONS).toList();
            try {
                List<ChannelFuture> connecting =
                        peers.stream().map(peer -> peer.startToConnect(server.localAddress())).toList();
                assertNull(accepted.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));

                server.config().setAutoRead(true);
                for (ChannelFuture connected : connecting) {
                    assertNotNull(accepted.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    connected.sync();
                }
            } finally {
                for (BlockingPeer peer : peers) {
                    peer.close();
                }
                server.close().sync();
            }
        }
    }

    @Nested
    class ShutdownOutputByPeer extends AbstractSocketShutdownOutputByPeerTest<BlockingPeer> {

        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.serverSocket();
        }

        @Override
        protected BlockingPeer newSocket() {
            return new BlockingPeer();
        }

        @Override
        protected void connect(BlockingPeer peer, SocketAddress address) throws IOException {
            peer.connect(address);
        }

        @Override
        protected void write(BlockingPeer peer, int data) throws IOException {
            peer.write(data);
        }

        @Override
        protected void shutdownOutput(BlockingPeer peer) throws IOException {
            peer.shutdownOutput();
        }

        @Override
        protected void close(BlockingPeer peer) throws IOException {
            peer.close();
        }
    }

    @Nested
    class ChannelNotYetConnected extends SocketChannelNotYetConnectedTest {

        private static final int GREETING = 42;

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.clientSocket();
        }

        @Test
        @Timeout(TIMEOUT_SECONDS)
        @Override
        public void readMustBePendingUntilChannelIsActive(TestInfo info) throws Throwable {
            run(info, bootstrap -> {
                BlockingQueue<Integer> read = new LinkedBlockingQueue<>();
                bootstrap.option(ChannelOption.AUTO_READ, false).handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    public void handlerAdded(ChannelHandlerContext context) {
                        assertFalse(context.channel().isActive());
                        context.read();
                    }

                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                        read.add((int) bytes.readByte());
                    }
                });
                try (BlockingPeer.Server server = new BlockingPeer.Server(newSocketAddress())) {
                    Channel channel = bootstrap.connect(server.localAddress()).sync().channel();
                    try (BlockingPeer peer = server.accept()) {
                        peer.write(GREETING);
                        assertEquals(GREETING, read.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    }
                    channel.close().sync();
                }
            });
        }
    }

    @Nested
    class ShutdownOutputBySelf extends SocketShutdownOutputBySelfTest {

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.clientSocket();
        }

        @Override
        public void testShutdownOutput(Bootstrap bootstrap) throws Throwable {
            BlockingQueue<Integer> read = new LinkedBlockingQueue<>();
            bootstrap.handler(new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                    read.add((int) bytes.readByte());
                }
            });
            try (BlockingPeer.Server server = new BlockingPeer.Server(newSocketAddress())) {
                SocketChannel channel = (SocketChannel) bootstrap.connect(server.localAddress()).sync().channel();
                try (BlockingPeer peer = server.accept()) {
                    assertShutdown(channel, false);
                    channel.writeAndFlush(Unpooled.directBuffer(1).writeByte(1)).sync();
                    assertEquals(1, peer.read());
                    assertShutdown(channel, false);

                    channel.shutdownOutput().sync();
                    assertEquals(-1, peer.read());
                    assertShutdown(channel, true);
                    ChannelFuture late = channel.writeAndFlush(Unpooled.directBuffer(1).writeByte(2)).await();
                    assertInstanceOf(ClosedChannelException.class, late.cause());

                    peer.write(3);
                    assertEquals(3, read.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                } finally {
                    channel.close().sync();
                }
            }
        }

        private static void assertShutdown(SocketChannel channel, boolean output) {
            assertTrue(channel.isOpen());
            assertTrue(channel.isActive());
            assertFalse(channel.isInputShutdown());
            assertEquals(output, channel.isOutputShutdown());
        }

        /** Disabled in Netty: a write from another thread changes the writability while it waits for the loop. */
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
            try (BlockingPeer.Server server = new BlockingPeer.Server(newSocketAddress())) {
                SocketChannel channel = (SocketChannel) bootstrap.connect(server.localAddress()).sync().channel();
                try (BlockingPeer peer = server.accept()) {
                    ChannelFuture write = channel.eventLoop().submit(
                            () -> channel.write(Unpooled.wrappedBuffer(new byte[]{1, 2, 3, 4, 5, 6}))).get();
                    assertEquals(false, writable.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    channel.flush();
                    write.sync();
                    assertEquals(true, writable.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    for (int i = 1; i <= 6; i++) {
                        assertEquals(i, peer.read());
                    }

                    channel.shutdownOutput().sync();
                    assertEquals(-1, peer.read());
                    assertShutdown(channel, true);
                    ChannelFuture late = channel.eventLoop().submit(
                            () -> channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[6]))).get().await();
                    assertInstanceOf(ClosedChannelException.class, late.cause());
                    assertNull(writable.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
                } finally {
                    channel.close().sync();
                }
            }
        }

        @Override
        public void testShutdownOutputAfterClosed(Bootstrap bootstrap) throws Throwable {
            bootstrap.handler(new ChannelInboundHandlerAdapter());
            try (BlockingPeer.Server server = new BlockingPeer.Server(newSocketAddress())) {
                SocketChannel channel = (SocketChannel) bootstrap.connect(server.localAddress()).sync().channel();
                assertTrue(channel.isActive());
                try (BlockingPeer peer = server.accept()) {
                    channel.close().sync();
                    assertEquals(-1, peer.read());
                    assertInstanceOf(ClosedChannelException.class, channel.shutdownInput().await().cause());
                    assertInstanceOf(ClosedChannelException.class, channel.shutdownOutput().await().cause());
                }
            }
        }

        @Override
        public void testShutdownOutputSoLingerNoAssertError(Bootstrap bootstrap) throws Throwable {
            shutDownWithLinger(bootstrap, SocketChannel::shutdownOutput);
        }

        @Override
        public void testShutdownSoLingerNoAssertError(Bootstrap bootstrap) throws Throwable {
            shutDownWithLinger(bootstrap, SocketChannel::shutdown);
        }

        private void shutDownWithLinger(Bootstrap bootstrap, Shutdown shutdown) throws Throwable {
            bootstrap.option(ChannelOption.SO_LINGER, 1).handler(new ChannelInboundHandlerAdapter());
            try (BlockingPeer.Server server = new BlockingPeer.Server(newSocketAddress())) {
                SocketChannel channel = (SocketChannel) bootstrap.connect(server.localAddress()).sync().channel();
                try (BlockingPeer peer = server.accept()) {
                    shutdown.start(channel).sync();
                    assertEquals(-1, peer.read());
                } finally {
                    channel.close().sync();
                }
            }
        }
    }

    @FunctionalInterface
    private interface Shutdown {
        ChannelFuture start(SocketChannel channel);
    }
}
