// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.CompositeBufferGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketAutoReadTest;
import io.netty.testsuite.transport.socket.SocketBufReleaseTest;
import io.netty.testsuite.transport.socket.SocketCancelWriteTest;
import io.netty.testsuite.transport.socket.SocketCloseForciblyTest;
import io.netty.testsuite.transport.socket.SocketConditionalWritabilityTest;
import io.netty.testsuite.transport.socket.SocketConnectTest;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
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
import io.netty.testsuite.transport.socket.SocketSslClientRenegotiateTest;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import io.netty.testsuite.transport.socket.SocketStringEchoTest;
import io.netty.testsuite.transport.socket.TrafficShapingHandlerTest;
import io.netty.testsuite.transport.socket.WriteBeforeRegisteredTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.List;

/**
 * Netty's own tests for stream sockets, as they are, with UCX on both sides. Those that have to be told how to talk to
 * their channel from outside stand in {@link NettySuiteWithPeersTest}.
 */
@ExtendWith(LeakReports.class)
class NettySuiteTest {

    private static List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> ucx() {
        return UcxPermutation.INSTANCE.socket();
    }

    @Nested
    class AutoRead extends SocketAutoReadTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class BufRelease extends SocketBufReleaseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class CancelWrite extends SocketCancelWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class CloseForcibly extends SocketCloseForciblyTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class CompositeBufferGatheringWrite extends CompositeBufferGatheringWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class ConditionalWritability extends SocketConditionalWritabilityTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class Connect extends SocketConnectTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class ConnectionAttempt extends SocketConnectionAttemptTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.clientSocket();
        }
    }

    @Nested
    class Echo extends SocketEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class ExceptionHandling extends SocketExceptionHandlingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class FileRegion extends SocketFileRegionTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class FixedLengthEcho extends SocketFixedLengthEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class GatheringWrite extends SocketGatheringWriteTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class HalfClosed extends SocketHalfClosedTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class MultipleConnect extends SocketMultipleConnectTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class ObjectEcho extends SocketObjectEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class ReadPending extends SocketReadPendingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class Rst extends SocketRstTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class SpdyEcho extends SocketSpdyEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class SslClientRenegotiate extends SocketSslClientRenegotiateTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class SslEcho extends SocketSslEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class SslGreeting extends SocketSslGreetingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class SslSessionReuse extends SocketSslSessionReuseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class StartTls extends SocketStartTlsTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class StringEcho extends SocketStringEchoTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class TrafficShapingHandler extends TrafficShapingHandlerTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return ucx();
        }
    }

    @Nested
    class WriteBeforeRegistered extends WriteBeforeRegisteredTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return UcxPermutation.INSTANCE.clientSocket();
        }
    }
}
