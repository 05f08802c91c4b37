// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.jmh;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.util.concurrent.TimeUnit;

/**
 * What a message costs its sender, from the write to what UCX does within the flush; the other side has its own loop.
 * Run it with {@code -prof gc} to see allocations.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
        "-Dio.netty.leakDetectionLevel=disabled"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class WritePathBenchmark {

    /** Few enough bytes for the receive window, so that none of them has to wait. */
    private static final int MESSAGES = 4096;
    private static final int SIZE = 16;

    /** Messages that are flushed together. */
    @Param({"1", "16", "64"})
    public int batch;

    private LocalConnection connection;
    private EventLoopGroup discardingGroup;
    private Channel discarding;
    private ByteBuf message;
    private long sent;

    @Setup
    public void connect() throws Exception {
        connection = new LocalConnection();
        discardingGroup = new DefaultEventLoopGroup(1);
        discarding = new DiscardingChannel();
        discardingGroup.register(discarding).sync();
        message = Unpooled.directBuffer(SIZE).writeZero(SIZE);
    }

    /** What was written before does not wait when the clock runs. */
    @Setup(Level.Invocation)
    public void awaitDrained() {
        connection.awaitReceived(sent);
    }

    @TearDown
    public void close() {
        connection.close();
        discarding.close().syncUninterruptibly();
        discardingGroup.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        message.release();
    }

    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public void write() throws InterruptedException {
        connection.write(message, MESSAGES, batch);
        sent += (long) MESSAGES * SIZE;
    }

    /** What of it is Netty's own: the same writes to a channel that throws them away. */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public void writeToNowhere() throws InterruptedException {
        LocalConnection.write(discarding, message, MESSAGES, batch);
    }
}
