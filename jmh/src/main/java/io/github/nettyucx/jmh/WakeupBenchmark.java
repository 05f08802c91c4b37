// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.jmh;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** From a task that another thread gives to an event loop until it runs there: an idle loop has to be woken. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
        "-Dio.netty.leakDetectionLevel=disabled"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class WakeupBenchmark {

    /** Longer than ADAPTIVE looks for work. */
    private static final long IDLE_NANOS = 200_000;

    /** How the loop waits: UCX's strategies, or Netty's NIO. */
    @Param({"BUSY_SPIN", "ADAPTIVE", "PARK", "NIO"})
    public String wait;

    private final Runnable task = this::run;
    private EventLoopGroup group;
    private EventLoop loop;
    private volatile boolean done;

    @Setup
    public void start() throws Exception {
        group = wait.equals("NIO") ? new NioEventLoopGroup(1)
                : new UcxEventLoopGroup(1, UcxWaitStrategy.valueOf(wait));
        loop = group.next();
        loop.submit(task).sync();
    }

    @Setup(Level.Invocation)
    public void letItSleep() {
        LockSupport.parkNanos(IDLE_NANOS);
        done = false;
    }

    @TearDown
    public void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void run() {
        done = true;
    }

    @Benchmark
    public void wakeup() {
        loop.execute(task);
        while (!done) {
            Thread.onSpinWait();
        }
    }
}
