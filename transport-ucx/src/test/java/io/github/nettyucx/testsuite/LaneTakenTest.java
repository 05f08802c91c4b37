// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@link LaneTaken} is there for: it would be of no use if it could not fail. */
@ExtendWith(LeakReports.class)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LaneTakenTest {

    private static final long SHORT_MILLIS = 50;
    private static final long PATIENCE_MILLIS = 2000;

    @Test
    void testsWithoutAConnectionOfThePairAreReported() throws Exception {
        long before = Pair.SOCKET.connections();
        connect(Pair.SHM);
        AssertionError report = assertThrows(AssertionError.class,
                () -> LaneTaken.assertTaken(Pair.SOCKET, before, SHORT_MILLIS));
        assertTrue(report.getMessage().contains("a connection of SOCKET"), report::getMessage);

        connect(Pair.SOCKET);
        LaneTaken.assertTaken(Pair.SOCKET, before, PATIENCE_MILLIS);
    }

    private static void connect(Pair pair) throws Exception {
        Channel server = pair.server().childHandler(new ChannelInboundHandlerAdapter()).bind(NetUtil.LOCALHOST, 0)
                .sync().channel();
        pair.client().handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel()
                .close().sync();
        server.close().sync();
    }
}
