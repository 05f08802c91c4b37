// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.OperationWatch;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@link LeakReports} is there for: it would be of no use if it could not fail. */
@ExtendWith(LeakReports.class)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LeakReportsTest {

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
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = new Bootstrap().group(UcxPermutation.INSTANCE.loops)
                    .channel(UcxSocketChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .register().sync().channel();
            channel.connect(silent.getLocalSocketAddress());
            channel.eventLoop().submit(() -> { }).sync();
            AssertionError report = assertThrows(AssertionError.class,
                    () -> OperationWatch.assertNothingInFlight(200, UcxPermutation.INSTANCE.loops));
            assertTrue(report.getMessage().startsWith("1 operations in flight"), report::getMessage);
            channel.close().sync();
        }
        OperationWatch.assertNothingInFlight(10_000, UcxPermutation.INSTANCE.loops);
    }
}
