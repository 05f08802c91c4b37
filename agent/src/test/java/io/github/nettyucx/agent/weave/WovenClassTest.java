// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

/** Which classes ask, and which Netty they go with, wherever these have been relocated to. */
class WovenClassTest {

    @ParameterizedTest
    @CsvSource({"io/netty/bootstrap/AbstractBootstrap, BOOTSTRAP, io/netty",
            "org/shaded/netty/channel/nio/NioEventLoopGroup, NIO_GROUP, org/shaded/netty",
            "reactor/netty/transport/TransportConnector, REACTOR, io/netty",
            "org/shaded/reactor/netty/transport/TransportConnector, REACTOR, org/shaded/io/netty"})
    void belongToANetty(String name, WovenClass kind, String root) {
        assertEquals(kind, WovenClass.of(name));
        assertEquals(root, kind.root(name));
    }

    @Test
    void othersDoNotAsk() {
        assertNull(WovenClass.of("org/example/TransportConnector"));
        assertNull(WovenClass.of("org/example/OwnEventLoopGroup"));
    }
}
