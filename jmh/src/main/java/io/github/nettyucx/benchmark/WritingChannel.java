// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A connection to a {@link BenchmarkServer} that threads of an application write to. */
final class WritingChannel extends ChannelInboundHandlerAdapter {
    private static final long STALL_SECONDS = 60;
    private static final long NAP_NANOS = 20_000;
    private static final int SPINS = 100;
    /** As much as the messaging module's ring has by default. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(512 * 1024, 1024 * 1024);

    private final Scenario scenario;
    private final Semaphore acknowledged = new Semaphore(0);
    private Channel channel;
    private ByteBuf message;

    private WritingChannel(Scenario scenario) {
        this.scenario = scenario;
    }

    static WritingChannel connect(EventLoopGroup group, Class<? extends Channel> type, InetSocketAddress address,
                                  Scenario scenario) throws InterruptedException {
        var handler = new WritingChannel(scenario);
        handler.channel = new Bootstrap().group(group).channel(type).handler(handler)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .connect(address).sync().channel();
        handler.message = handler.channel.alloc().directBuffer(scenario.size(), scenario.size())
                .writeZero(scenario.size());
        return handler;
    }

    void begin(long count) throws InterruptedException {
        var header = channel.alloc().directBuffer(Phase.HEADER);
        new Phase(Phase.Kind.TO_SERVER, scenario.size(), 1, count).encode(header);
        channel.writeAndFlush(header).sync();
    }

    /** Of any thread. */
    void write(long count) {
        for (var i = 0L; i < count; i++) {
            for (var spins = 0; !channel.isWritable(); spins++) {
                if (spins < SPINS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
            channel.writeAndFlush(message.retainedDuplicate(), channel.voidPromise());
        }
    }

    void awaitAcknowledgement() throws InterruptedException {
        if (!acknowledged.tryAcquire(STALL_SECONDS, TimeUnit.SECONDS)) {
            throw new ExampleFailure("the server has not acknowledged for " + STALL_SECONDS + " s");
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object received) {
        ((ByteBuf) received).release();
        acknowledged.release();
    }

    void close() {
        channel.close().awaitUninterruptibly();
        message.release();
    }
}
