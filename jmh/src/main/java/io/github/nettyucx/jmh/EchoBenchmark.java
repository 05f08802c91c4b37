// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.jmh;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Messages to a server in the same process and back, in batches that are written one by one and flushed once: the whole
 * path through pipeline, wire protocol and UCX, in both directions. Run it with {@code -prof gc} to see allocations.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
        "-Dio.netty.leakDetectionLevel=disabled"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class EchoBenchmark {

    /** Of a message, in bytes. */
    @Param({"16", "1024"})
    public int size;

    /** Messages that are flushed together. */
    @Param({"1", "16", "64"})
    public int batch;

    private final Semaphore returned = new Semaphore(0);
    private EventLoopGroup group;
    private Channel client;
    private Runnable writeBatch;

    @Setup
    public void connect() throws Exception {
        group = new UcxEventLoopGroup(2);
        Channel server = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new Echo())
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        client = new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .handler(new Count())
                .connect(server.localAddress()).sync().channel();
        writeBatch = () -> {
            for (int i = 0; i < batch; i++) {
                client.write(client.alloc().directBuffer(size).writerIndex(size), client.voidPromise());
            }
            client.flush();
        };
    }

    @TearDown
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** One operation is one batch and its return. */
    @Benchmark
    public void echo() throws InterruptedException {
        client.eventLoop().execute(writeBatch);
        returned.acquire();
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    private final class Count extends ChannelInboundHandlerAdapter {
        private int received;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            received += buffer.readableBytes();
            buffer.release();
            if (received == size * batch) {
                received = 0;
                returned.release();
            }
        }
    }
}
