// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** {@link Peers} for handlers of Netty's: closing them checks that no buffer and no exception is left. */
final class HandlerPeers implements AutoCloseable {

    private final LeakWatch leaks = new LeakWatch();
    private final Peers peers = new Peers();
    private final List<Throwable> exceptions = new CopyOnWriteArrayList<>();

    Channel listen(Consumer<ChannelPipeline> handlers) throws InterruptedException {
        ServerBootstrap server = peers.server(() -> initializer(handlers))
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator);
        return peers.listen(server);
    }

    UcxSocketChannel connect(Channel server, Consumer<ChannelPipeline> handlers) throws InterruptedException {
        return Peers.connect(peers.client(initializer(handlers))
                .option(ChannelOption.ALLOCATOR, leaks.allocator), server);
    }

    private ChannelHandler initializer(Consumer<ChannelPipeline> handlers) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                handlers.accept(channel.pipeline());
                channel.pipeline().addLast(new Catcher());
            }
        };
    }

    private final class Catcher extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            exceptions.add(cause);
            context.close();
        }
    }

    /** Has a failure of the handlers end the wait for a result. */
    static void failing(CompletableFuture<?> result, Runnable check) {
        try {
            check.run();
        } catch (Throwable t) {
            result.completeExceptionally(t);
        }
    }

    @Override
    public void close() {
        peers.close();
        leaks.assertNothingLeft();
        assertEquals(List.of(), exceptions);
    }
}
