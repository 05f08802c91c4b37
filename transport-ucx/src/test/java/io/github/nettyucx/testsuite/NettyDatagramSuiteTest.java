// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.DatagramConnectNotExistsTest;
import io.netty.testsuite.transport.socket.DatagramConnectedWriteExceptionTest;
import io.netty.testsuite.transport.socket.DatagramMulticastIPv6Test;
import io.netty.testsuite.transport.socket.DatagramMulticastTest;
import io.netty.testsuite.transport.socket.DatagramUnicastIPv6MappedTest;
import io.netty.testsuite.transport.socket.DatagramUnicastIPv6Test;
import io.netty.testsuite.transport.socket.DatagramUnicastInetTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

import java.net.StandardProtocolFamily;
import java.util.List;

/** Netty's own tests for datagrams, as they are, with the transport's channel on one side or on both. */
@ExtendWith(LeakReports.class)
class NettyDatagramSuiteTest {

    @Nested
    class Unicast extends DatagramUnicastInetTest {
        @Override
        protected List<BootstrapComboFactory<Bootstrap, Bootstrap>> newFactories() {
            return DatagramPermutation.INSTANCE.datagrams(StandardProtocolFamily.INET);
        }
    }

    @Nested
    class UnicastIpv6 extends DatagramUnicastIPv6Test {
        @Override
        protected List<BootstrapComboFactory<Bootstrap, Bootstrap>> newFactories() {
            return DatagramPermutation.INSTANCE.datagrams(StandardProtocolFamily.INET6);
        }
    }

    @Nested
    class UnicastIpv6Mapped extends DatagramUnicastIPv6MappedTest {
        @Override
        protected List<BootstrapComboFactory<Bootstrap, Bootstrap>> newFactories() {
            return DatagramPermutation.INSTANCE.datagrams(StandardProtocolFamily.INET6);
        }
    }

    @Nested
    class Multicast extends DatagramMulticastTest {
        @Override
        protected List<BootstrapComboFactory<Bootstrap, Bootstrap>> newFactories() {
            return DatagramPermutation.INSTANCE.datagramsOfUcx(StandardProtocolFamily.INET);
        }
    }

    @Nested
    class MulticastIpv6 extends DatagramMulticastIPv6Test {
        @Override
        protected List<BootstrapComboFactory<Bootstrap, Bootstrap>> newFactories() {
            return DatagramPermutation.INSTANCE.datagramsOfUcx(StandardProtocolFamily.INET6);
        }
    }

    @Nested
    class ConnectNotExists extends DatagramConnectNotExistsTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(DatagramPermutation.INSTANCE.datagramSocket(null));
        }
    }

    @Nested
    class ConnectedWriteException extends DatagramConnectedWriteExceptionTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return List.of(DatagramPermutation.INSTANCE.datagramSocket(null));
        }
    }
}
