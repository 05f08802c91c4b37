// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import com.google.protobuf.ByteString;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.HdrHistogram.AbstractHistogram;

/**
 * Makes gRPC calls to a {@link CallServer}, over one connection. What a scenario does not name is left to gRPC's defaults.
 * Not for an event loop.
 */
final class CallClient implements MeasuredClient {
    private static final long STALL_SECONDS = 30;
    private static final long SHUTDOWN_SECONDS = 5;

    private final Task task;
    private final Scenario scenario;
    private final Compilers compilers;
    private final Barrier barrier;
    private final EventLoopGroup group;
    private final ManagedChannel channel;
    private final List<Caller> callers;
    /** What the channel connects by; there is one connection. */
    private volatile Channel connection;

    /** @param serverPid the server's process, which is on the same host */
    CallClient(Task task, HostAndPort server, long serverPid, Barrier barrier) throws InterruptedException {
        this.task = task;
        this.barrier = barrier;
        scenario = task.scenario();
        compilers = new Compilers(ProcessHandle.current().pid(), serverPid);
        var transport = task.setting().transport();
        group = transport.newEventLoopGroup(scenario.loops());
        Loops.start(group);
        var factory = new ReflectiveChannelFactory<>(transport.socketChannel());
        var builder = NettyChannelBuilder.forAddress(server.host(), server.port(), credentials(task))
                // As channelType does, which keeps the connection for itself.
                .channelFactory(() -> connection = factory.newChannel())
                .eventLoopGroup(group);
        if (scenario.executor() == CallExecutor.DIRECT) {
            builder.directExecutor();
        }
        channel = builder.build();
        var stub = ExerciseGrpc.newStub(channel);
        var payload = Payload.newBuilder().setData(ByteString.copyFrom(new byte[scenario.size()])).build();
        callers = IntStream.range(0, scenario.active())
                .mapToObj(_ -> scenario.work() == Work.GRPC_UNARY ? new Caller.Unary(stub, payload)
                        : new Caller.Stream(stub, payload)).toList();
    }

    private static ChannelCredentials credentials(Task task) {
        if (task.scenario().isPlain()) {
            return InsecureChannelCredentials.create();
        }
        try {
            return TlsChannelCredentials.newBuilder().trustManager(task.certificate().certificate().toFile()).build();
        } catch (IOException e) {
            throw new ExampleFailure("cannot use the certificate: " + e.getMessage(), e);
        }
    }

    @Override
    public ClientResult measure() throws InterruptedException {
        var operations = Calibration.warmUp(scenario, compilers, count -> run(count, histograms()));
        var histograms = histograms();
        barrier.await();

        var before = ProcessState.now(new long[0]);
        var seconds = run(operations, histograms) / 1e9;
        barrier.over();
        var after = ProcessState.now(new long[0]);
        var merged = Durations.merge(histograms);
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, merged.getTotalCount() / seconds));
        figures.putAll(Durations.figures(merged));
        return new ClientResult(new Sample(task.setting().transport().lane(connection), software(),
                merged.getTotalCount(), seconds, figures, Durations.percentiles(merged), Durations.encode(merged)),
                before, after);
    }

    private String software() {
        return "gRPC " + NettyChannelBuilder.class.getPackage().getImplementationVersion() + ", "
                + task.setting().transport().software();
    }

    private List<AbstractHistogram> histograms() {
        return callers.stream().map(_ -> Durations.newHistogram()).toList();
    }

    /**
     * Lets all callers do the same at the same time, and waits for all of them.
     *
     * @param histograms one for each caller
     * @return how long it took all of them, in nanoseconds
     */
    private long run(long count, List<AbstractHistogram> histograms) throws InterruptedException {
        var begin = System.nanoTime();
        var ends = IntStream.range(0, callers.size())
                .mapToObj(i -> callers.get(i).start(count, histograms.get(i))).toList();
        await(CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)));
        return ends.stream().mapToLong(CompletableFuture::join).max().orElseThrow() - begin;
    }

    /** Gives up when no call ends any more. */
    private void await(CompletableFuture<Void> all) throws InterruptedException {
        var before = -1L;
        while (true) {
            try {
                all.get(STALL_SECONDS, TimeUnit.SECONDS);
                return;
            } catch (TimeoutException e) {
                var now = callers.stream().mapToLong(Caller::made).sum();
                if (now == before) {
                    throw new ExampleFailure("no call ended for " + STALL_SECONDS + " s", e);
                }
                before = now;
            } catch (ExecutionException e) {
                throw new ExampleFailure("a call failed: " + e.getCause(), e.getCause());
            }
        }
    }

    @Override
    public void close() {
        callers.forEach(Caller::end);
        channel.shutdown();
        try {
            if (!channel.awaitTermination(SHUTDOWN_SECONDS, TimeUnit.SECONDS)) {
                channel.shutdownNow();
            }
        } catch (InterruptedException e) {
            channel.shutdownNow();
            Thread.currentThread().interrupt();
        }
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
