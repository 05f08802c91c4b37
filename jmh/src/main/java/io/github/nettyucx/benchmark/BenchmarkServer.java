// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Accepts connections of benchmark clients until it is stopped. */
final class BenchmarkServer implements MeasuredServer {
    private static final int BACKLOG = 4096;
    private static final long SHUTDOWN_SECONDS = 5;
    /** Netty's default of the upper mark; and what an entry of the outbound buffer counts beside its bytes. */
    private static final int LEAST_HIGH_MARK = 64 * 1024;
    private static final int ENTRY_OVERHEAD = 96;
    private static final int FLUSHES_BELOW_HIGH_MARK = 4;

    private final EventLoopGroup group;
    private final long[] threads;
    private final Channel channel;

    private BenchmarkServer(EventLoopGroup group, long[] threads, Channel channel) {
        this.group = group;
        this.threads = threads;
        this.channel = channel;
    }

    static BenchmarkServer start(Task task) throws InterruptedException {
        var transport = task.setting().transport();
        // One group, so that a scenario of one loop has one on each side.
        var group = transport.newEventLoopGroup(task.scenario().loops());
        var threads = Loops.start(group);
        var tls = Tls.ofServer(task);
        var bootstrap = new ServerBootstrap();
        if (task.scenario().receiveBuffer() > 0) {
            bootstrap.childOption(ChannelOption.SO_RCVBUF, task.scenario().receiveBuffer());
        }
        var bound = bootstrap
                .group(group)
                .channel(transport.serverSocketChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark(task.scenario()))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        tls.addTo(connection);
                        connection.pipeline().addLast(new ServerHandler());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new ExampleFailure("cannot listen: " + Explanation.of(bound.cause()), bound.cause());
        }
        return new BenchmarkServer(group, threads, bound.channel());
    }

    /** A channel stays writable for some flushes; with large messages, Netty's default would end before the first. */
    static WriteBufferWaterMark waterMark(Scenario scenario) {
        var batch = (long) scenario.flush() * (scenario.size() + ENTRY_OVERHEAD);
        var high = (int) Math.clamp(FLUSHES_BELOW_HIGH_MARK * batch, LEAST_HIGH_MARK, Integer.MAX_VALUE);
        return new WriteBufferWaterMark(high / 2, high);
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) channel.localAddress());
    }

    @Override
    public ProcessState state() {
        return ProcessState.now(threads);
    }

    @Override
    public void stop() {
        channel.close();
    }

    @Override
    public void awaitStop() throws InterruptedException {
        channel.closeFuture().sync();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
