// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.IoDriver;
import io.github.nettyucx.channel.UcxMetrics;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.IoHandlerFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Makes the handlers of event loops, and tells what their loops have done. Use one for each group of loops.
 *
 * @see UcxIoHandler#newFactory()
 */
public final class UcxIoHandlerFactory implements IoHandlerFactory {

    private final UcxWaitStrategy waitStrategy;
    private final List<IoDriver> drivers = new CopyOnWriteArrayList<>();

    UcxIoHandlerFactory(UcxWaitStrategy waitStrategy) {
        this.waitStrategy = waitStrategy;
    }

    @Override
    public UcxIoHandler newHandler(ThreadAwareExecutor executor) {
        IoDriver driver = new IoDriver(waitStrategy);
        drivers.add(driver);
        return new UcxIoHandler(executor, driver);
    }

    /** What all loops with its handlers have done so far, also those that have ended. Any thread may call. */
    public UcxMetrics metrics() {
        return UcxMetrics.sum(drivers.stream().map(IoDriver::metrics).toList());
    }
}
