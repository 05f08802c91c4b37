// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.OperationWatch;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@link LeakReports} is there for: it would be of no use if it could not fail. */
@ExtendWith(LeakReports.class)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LeakReportsTest {

    /** For UCX a rendezvous, which waits for the peer; in one message, of which the window holds four. */
    private static final int BYTES = 2 * 1024 * 1024;

    @Test
    void aBufferThatIsNotReleasedIsReported() {
        leak();
        AssertionError report = assertThrows(AssertionError.class, LeakReports::assertNoLeaks);
        assertTrue(report.getMessage().contains("ByteBuf"), report::getMessage);
        // It has been reported, and must not fail this class.
        LeakReports.assertNoLeaks();
    }

    private static void leak() {
        // An allocator of its own, whose memory goes with it.
        new UnpooledByteBufAllocator(true).directBuffer(16);
    }

    @Test
    void anOperationThatDoesNotCompleteIsReported() throws Exception {
        Channel server = Pair.SHM.server().childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 4 * BYTES).childHandler(new ChannelInboundHandlerAdapter()).bind(NetUtil.LOCALHOST, 0).sync().channel();
        Channel client = Pair.SHM.client().handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.directBuffer(BYTES).writeZero(BYTES));
        client.eventLoop().submit(() -> { }).sync();
        AssertionError report = assertThrows(AssertionError.class,
                () -> OperationWatch.assertNothingInFlight(200, SuiteLoops.groups()));
        assertTrue(report.getMessage().startsWith("1 operations in flight"), report::getMessage);
        client.config().setOption(ChannelOption.SO_LINGER, 0);
        client.close().sync();
        server.close().sync();
        OperationWatch.assertNothingInFlight(10_000, SuiteLoops.groups());
    }
}
