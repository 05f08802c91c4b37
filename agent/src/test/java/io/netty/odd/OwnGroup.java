// SPDX-License-Identifier: Apache-2.0
package io.netty.odd;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;

import java.util.concurrent.Executor;

/** Not Netty's own, though it is below Netty's package: it takes its loops for what they are without the agent. */
public final class OwnGroup extends MultiThreadIoEventLoopGroup {

    public OwnGroup() {
        super(2, NioIoHandler.newFactory());
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
        return new SingleThreadIoEventLoop(this, executor, factory);
    }
}
