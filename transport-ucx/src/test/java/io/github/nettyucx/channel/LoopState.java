// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * What the first loop of a group has at the moment.
 *
 * @param workers  of UCX
 * @param orphans  operations of closed channels that UCX has not completed
 * @param channels that are registered
 */
public record LoopState(int workers, int orphans, int channels) {

    /** Asked by the loop itself, after an interval in which it sleeps as it likes. */
    public static LoopState of(EventLoopGroup group, long delayMillis) throws InterruptedException, ExecutionException {
        EventLoop loop = TestLoops.first(group);
        return loop.schedule(() -> of(TestLoops.driver(loop)), delayMillis, TimeUnit.MILLISECONDS).get();
    }

    private static LoopState of(IoDriver driver) throws IOException {
        return new LoopState(driver.engine().workerCount(), driver.engine().orphanCount(), driver.channelCount());
    }
}
