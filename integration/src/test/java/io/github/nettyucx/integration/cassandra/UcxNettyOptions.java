// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.cassandra;

import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.internal.core.context.DefaultNettyOptions;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import com.datastax.oss.driver.internal.core.util.concurrent.BlockingOperation;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;

import java.util.concurrent.TimeUnit;

/** What docs/frameworks.md shows; {@code FrameworksPageTest} compares the page with this file. */
public class UcxNettyOptions extends DefaultNettyOptions {

    private final EventLoopGroup ucx;

    public UcxNettyOptions(InternalDriverContext context) {
        super(context);
        int loops = context.getConfig().getDefaultProfile().getInt(DefaultDriverOption.NETTY_IO_SIZE);
        // By its threads the driver knows where it must not block.
        ucx = new UcxEventLoopGroup(loops, new BlockingOperation.SafeThreadFactory());
    }

    @Override
    public EventLoopGroup ioEventLoopGroup() {
        return ucx;
    }

    @Override
    public Class<? extends Channel> channelClass() {
        return UcxSocketChannel.class;
    }

    @Override
    public Future<Void> onClose() {
        Promise<Void> closed = GlobalEventExecutor.INSTANCE.newPromise();
        super.onClose().addListener(others -> ucx.shutdownGracefully(0, 15, TimeUnit.SECONDS)
                .addListener(ended -> closed.setSuccess(null)));
        return closed;
    }
}
