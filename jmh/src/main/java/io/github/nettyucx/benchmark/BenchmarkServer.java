// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;

/** Accepts connections of benchmark clients until it is stopped. */
final class BenchmarkServer extends ListeningServer {
    private static final int BACKLOG = 4096;
    /** Netty's default of the upper mark; and what an entry of the outbound buffer counts beside its bytes. */
    private static final int LEAST_HIGH_MARK = 64 * 1024;
    private static final int ENTRY_OVERHEAD = 96;
    private static final int FLUSHES_BELOW_HIGH_MARK = 4;

    private BenchmarkServer(Task task) throws InterruptedException {
        // One group, so that a scenario of one loop has one on each side.
        super(task.setting().transport().newEventLoopGroup(task.scenario().loops()), bootstrap(task));
    }

    static BenchmarkServer start(Task task) throws InterruptedException {
        return new BenchmarkServer(task);
    }

    private static ServerBootstrap bootstrap(Task task) {
        var tls = Tls.ofServer(task);
        var bootstrap = new ServerBootstrap();
        if (task.scenario().receiveBuffer() > 0) {
            bootstrap.childOption(ChannelOption.SO_RCVBUF, task.scenario().receiveBuffer());
        }
        return bootstrap
                .channel(task.setting().transport().serverSocketChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark(task.scenario()))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        tls.addTo(connection);
                        connection.pipeline().addLast(new ServerHandler());
                    }
                });
    }

    /** A channel stays writable for some flushes; with large messages, Netty's default would end before the first. */
    static WriteBufferWaterMark waterMark(Scenario scenario) {
        var batch = (long) scenario.flush() * (scenario.size() + ENTRY_OVERHEAD);
        var high = (int) Math.clamp(FLUSHES_BELOW_HIGH_MARK * batch, LEAST_HIGH_MARK, Integer.MAX_VALUE);
        return new WriteBufferWaterMark(high / 2, high);
    }
}
