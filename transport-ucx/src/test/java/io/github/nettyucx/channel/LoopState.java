// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

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
        UcxEventLoop loop = (UcxEventLoop) group.iterator().next();
        return loop.schedule(() -> of(loop), delayMillis, TimeUnit.MILLISECONDS).get();
    }

    private static LoopState of(UcxEventLoop loop) throws IOException {
        return new LoopState(loop.engine().workerCount(), loop.engine().orphanCount(), loop.registeredChannels());
    }
}
