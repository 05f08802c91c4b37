// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.CompositeBufferGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketAddressesTest;
import io.netty.testsuite.transport.socket.SocketAutoReadTest;
import io.netty.testsuite.transport.socket.SocketBufReleaseTest;
import io.netty.testsuite.transport.socket.SocketCancelWriteTest;
import io.netty.testsuite.transport.socket.SocketCloseForciblyTest;
import io.netty.testsuite.transport.socket.SocketConditionalWritabilityTest;
import io.netty.testsuite.transport.socket.SocketConnectTest;
import io.netty.testsuite.transport.socket.SocketDataReadInitialStateTest;
import io.netty.testsuite.transport.socket.SocketEchoTest;
import io.netty.testsuite.transport.socket.SocketExceptionHandlingTest;
import io.netty.testsuite.transport.socket.SocketFileRegionTest;
import io.netty.testsuite.transport.socket.SocketFixedLengthEchoTest;
import io.netty.testsuite.transport.socket.SocketGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketHalfClosedTest;
import io.netty.testsuite.transport.socket.SocketMultipleConnectTest;
import io.netty.testsuite.transport.socket.SocketObjectEchoTest;
import io.netty.testsuite.transport.socket.SocketReadPendingTest;
import io.netty.testsuite.transport.socket.SocketRstTest;
import io.netty.testsuite.transport.socket.SocketSpdyEchoTest;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import io.netty.testsuite.transport.socket.SocketStringEchoTest;
import io.netty.testsuite.transport.socket.TrafficShapingHandlerTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Netty's own tests for stream sockets, with UCX on one side or on both. Those that have a channel on one side only stand in
 * {@link NettyOneSideSuiteTest}.
 * <p>
 * There is a subclass for each {@link Pair}: what failed with one is not to be taken for what passed with another, as
 * surefire, which tells tests by their classes and methods, would do when it tries again.
 */
@ExtendWith({LeakReports.class, LaneTaken.class})
abstract class NettySuite {

    private static final int TIMEOUT_SECONDS = 20;
    private static final int PAUSE_MILLIS = 100;

    private static final AtomicInteger ECHOES = new AtomicInteger();

    final Pair pair;

    NettySuite(Pair pair) {
        this.pair = pair;
    }

    @BeforeEach
    void assumeAvailable() {
        pair.assumeAvailable();
    }

    @AfterEach
    void assertLane() {
        pair.assertNoOtherLaneTaken();
    }

    @Nested
    class Addresses extends SocketAddressesTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }

        @Override
        protected void assertAddress(SocketAddress address) {
            InetSocketAddress inet = assertInstanceOf(InetSocketAddress.class, address);
            assertTrue(inet.getPort() > 0, inet::toString);
            assertFalse(inet.getAddress().isAnyLocalAddress(), inet::toString);
        }
    }

    @Nested
    class AutoRead extends SocketAutoReadTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class BufRelease extends SocketBufReleaseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class CancelWrite extends SocketCancelWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class CloseForcibly extends SocketCloseForciblyTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class CompositeBufferGatheringWrite extends CompositeBufferGatheringWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class ConditionalWritability extends SocketConditionalWritabilityTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class Connect extends SocketConnectTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }

        /** Netty allows 3 s for the connections with all allocators, of which each has a handshake here. */
        @Test
        @Timeout(TIMEOUT_SECONDS)
        @Override
        public void testChannelEventsFiredWhenClosedDirectly(TestInfo info) throws Throwable {
            run(info, this::testChannelEventsFiredWhenClosedDirectly);
        }

        /** So it does here. */
        @Test
        @Timeout(TIMEOUT_SECONDS)
        @Override
        public void testWriteWithFastOpenBeforeConnect(TestInfo info) throws Throwable {
            run(info, this::testWriteWithFastOpenBeforeConnect);
        }
    }

    @Nested
    class DataReadInitialState extends SocketDataReadInitialStateTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }

        /**
         * Netty's test connects before the server reads. The kernel makes connections for a server that does not accept
         * yet, but has nobody to answer a handshake.
         */
        @Override
        public void testAutoReadOffNoDataReadUntilReadCalled(ServerBootstrap server, Bootstrap client)
                throws Throwable {
            if (pair.isPlain()) {
                super.testAutoReadOffNoDataReadUntilReadCalled(server, client);
            } else {
                nothingIsReadBeforeReadIsCalled(server, client);
            }
        }
    }

    private static void nothingIsReadBeforeReadIsCalled(ServerBootstrap accepting, Bootstrap connecting)
            throws Exception {
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

    @Nested
    class Echo extends SocketEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class ExceptionHandling extends SocketExceptionHandlingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class FileRegion extends SocketFileRegionTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class FixedLengthEcho extends SocketFixedLengthEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class GatheringWrite extends SocketGatheringWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class HalfClosed extends SocketHalfClosedTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class MultipleConnect extends SocketMultipleConnectTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class ObjectEcho extends SocketObjectEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class ReadPending extends SocketReadPendingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class Rst extends SocketRstTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class SpdyEcho extends SocketSpdyEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class StringEcho extends SocketStringEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class TrafficShapingHandler extends TrafficShapingHandlerTest {
        /** Instead of Netty's, which ends threads for good that the next pair in this process needs as well. */
        @AfterAll
        public static void destroyGroup() {
            // They end with the process.
        }

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class SslEcho extends SocketSslEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }

        /**
         * One for each of the many ways to echo, in turn: with all of them the suite would spend most of its time here, and
         * tell little that its other tests do not.
         */
        @Override
        protected List<ByteBufAllocator> newAllocators() {
            List<ByteBufAllocator> all = super.newAllocators();
            return List.of(all.get(ECHOES.getAndIncrement() % all.size()));
        }
    }

    @Nested
    class SslGreeting extends SocketSslGreetingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class SslSessionReuse extends SocketSslSessionReuseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    @Nested
    class StartTls extends SocketStartTlsTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return pair.factories();
        }
    }

    // ------------------------------------------------------------------------------------------- our own

    @Nested
    class BeforeActive extends BeforeActiveCases {
        BeforeActive() {
            super(pair);
        }
    }

    @Nested
    class ShutdownOutput extends ShutdownOutputCases {
        ShutdownOutput() {
            super(pair);
        }
    }
}
