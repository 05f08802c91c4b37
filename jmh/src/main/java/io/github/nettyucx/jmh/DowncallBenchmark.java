// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.jmh;

import io.github.nettyucx.ucp.UcpConfig;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
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

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;

/** What the calls of an idle turn of the event loop cost, on a worker that nobody talks to. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DowncallBenchmark {

    /** The transports that the worker opens, as in {@code UCX_TLS}. */
    @Param({"shm", "tcp"})
    public String tls;

    private Arena arena;
    private UcpContext context;
    private UcpWorker worker;
    private long handle;
    private long info;

    @Setup
    public void open() throws Exception {
        arena = Arena.ofConfined();
        info = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES).address();
        try (UcpConfig config = UcpConfig.read(null)) {
            config.modify("TLS", tls);
            context = UcpContext.create(new UcpContextParams()
                    .features(UcpFeature.TAG, UcpFeature.WAKEUP)
                    .config(config));
        }
        worker = context.createWorker(new UcpWorkerParams());
        handle = worker.address();
    }

    @TearDown
    public void close() throws Exception {
        worker.close();
        context.close();
        arena.close();
    }

    @Benchmark
    public int progress() {
        return UcpWorker.progress(handle);
    }

    @Benchmark
    public long probe() {
        return UcpTag.probeNb(handle, 0, 0, true, info);
    }

    @Benchmark
    public int arm() {
        return UcpWorker.arm(handle);
    }
}
