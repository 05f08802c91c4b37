// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.IoDriver;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.ThreadAwareExecutor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

/** Has the transport's tests run on the loops of Netty 4.2. */
public final class IoTestLoops extends TestLoops {

    /** Netty does not tell the handler of a loop. */
    private final Map<ThreadAwareExecutor, IoDriver> drivers = new ConcurrentHashMap<>();

    private IoHandlerFactory noting(UcxIoHandlerFactory factory) {
        return executor -> {
            UcxIoHandler handler = factory.newHandler(executor);
            drivers.put(executor, handler.driver());
            return handler;
        };
    }

    @Override
    protected EventLoopGroup make(int threads, ThreadFactory factory) {
        return new MultiThreadIoEventLoopGroup(threads, factory, noting(UcxIoHandler.newFactory()));
    }

    @Override
    protected EventLoopGroup make(int threads, UcxWaitStrategy waitStrategy) {
        return new MultiThreadIoEventLoopGroup(threads, noting(UcxIoHandler.newFactory(waitStrategy)));
    }

    @Override
    protected IoDriver find(EventLoop loop) {
        return drivers.get((ThreadAwareExecutor) loop);
    }
}
