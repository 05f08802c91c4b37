// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.jmh;

import io.github.nettyucx.ucp.UcpConfig;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpTag;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
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
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * A small message that is sent, found by one wildcard probe, given to its channel by the id in its tag, and received,
 * with more and more channels on a worker: what the transport does for each message, on one thread. Each message is for
 * another channel than the one before.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
        "-Dio.netty.leakDetectionLevel=disabled"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class TagDemultiplexBenchmark {

    private static final int SIZE = 16;

    @Param({"1", "16", "100", "1000", "10000"})
    public int channels;

    private Arena arena;
    private UcpContext context;
    private UcpWorker sender;
    private UcpWorker receiver;
    private UcpEndpoint endpoint;
    private long parameters;
    private long buffer;
    private long info;
    private int[] ids;
    private int next;
    private final IntObjectMap<Sink> sinks = new IntObjectHashMap<>();

    private final class Sink {
        private long messages;

        void onMessage(long message, long length) {
            messages++;
            finish(UcpTag.messageReceiveNbx(receiver.address(), buffer, length, message, parameters));
        }
    }

    @Setup
    public void open() throws UcxException {
        arena = Arena.ofConfined();
        info = arena.allocate(UcpTag.INFO_SIZE, Long.BYTES).address();
        buffer = arena.allocate(2 * SIZE, Long.BYTES).address();
        parameters = UcpRequestParam.allocate(arena);
        try (UcpConfig config = UcpConfig.read(null)) {
            config.modify("TLS", "shm");
            context = UcpContext.create(new UcpContextParams().features(UcpFeature.TAG).config(config));
        }
        sender = context.createWorker(new UcpWorkerParams());
        receiver = context.createWorker(new UcpWorkerParams());
        endpoint = sender.connect(receiver.queryAddress(), null);
        finish(endpoint.flushNbx(parameters));
        SplittableRandom random = new SplittableRandom(1);
        ids = new int[channels];
        for (int i = 0; i < channels; i++) {
            do {
                ids[i] = random.nextInt();
            } while (sinks.containsKey(ids[i]));
            sinks.put(ids[i], new Sink());
        }
    }

    @TearDown
    public void close() throws UcxException {
        finish(endpoint.closeNbx(false));
        sender.close();
        receiver.close();
        context.close();
        arena.close();
    }

    @Benchmark
    public long message() {
        next = next + 1 == channels ? 0 : next + 1;
        finish(UcpTag.sendNbx(endpoint.address(), buffer + SIZE, SIZE, (long) ids[next] << 32, parameters));
        long message;
        while ((message = UcpTag.probeNb(receiver.address(), 0, 0, true, info)) == 0) {
            receiver.progress();
            sender.progress();
        }
        Sink sink = sinks.get((int) (UcpTag.infoTag(info) >>> 32));
        sink.onMessage(message, UcpTag.infoLength(info));
        return sink.messages;
    }

    private void finish(long request) {
        int status = (int) request;
        if (UcsStatus.isRequest(request)) {
            while ((status = UcpRequest.checkStatus(request)) == UcsStatus.INPROGRESS) {
                sender.progress();
                receiver.progress();
            }
            UcpRequest.free(request);
        }
        if (status != UcsStatus.OK) {
            throw new IllegalStateException(UcsStatus.string(status));
        }
    }
}
