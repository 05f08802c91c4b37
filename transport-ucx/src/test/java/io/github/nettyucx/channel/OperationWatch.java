// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;

import java.util.concurrent.TimeUnit;

/** Looks for operations that UCX does not complete. */
public final class OperationWatch {

    private OperationWatch() {
    }

    /**
     * Waits until the loops of some groups have nothing in flight.
     *
     * @throws AssertionError if they still have after {@code millis}
     */
    public static void assertNothingInFlight(long millis, EventLoopGroup... groups) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (EventLoopGroup group : groups) {
            for (EventExecutor executor : group) {
                EventLoop loop = (EventLoop) executor;
                IoDriver driver = TestLoops.driver(loop);
                while (driver.metrics().operationsInFlight() > 0) {
                    if (System.nanoTime() - deadline > 0) {
                        throw new AssertionError(driver.metrics().operationsInFlight() + " operations in flight after " + millis
                                + " ms, of which " + loop.submit(() -> driver.engine().orphanCount()).get()
                                + " are of channels that are closed");
                    }
                    // UCX completes operations in turns of the loop, which nobody is told of.
                    Thread.sleep(10);
                }
            }
        }
    }
}
