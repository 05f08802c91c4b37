// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc.ExerciseStub;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/** Measures unary calls over one connection: one after the other, then many at a time. */
final class CallMeasurement {
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int HISTOGRAM_DIGITS = 3;
    private static final int PROGRESS_EVERY = 1000;
    private static final long STALL_SECONDS = 60;

    private final GrpcLoad load;
    private final long stallSeconds;
    private final Payload payload;

    CallMeasurement(GrpcLoad load) {
        this(load, STALL_SECONDS);
    }

    /**
     * @param stallSeconds how long no call may end before the measurement gives up
     */
    CallMeasurement(GrpcLoad load, long stallSeconds) {
        this.load = load;
        this.stallSeconds = stallSeconds;
        payload = Payloads.of(1, load.size().bytes());
    }

    /** Blocks until the measurement is done. */
    GrpcResult measure(HostAndPort server, GrpcTransport transport, Path trust, Progress progress)
            throws InterruptedException {
        try (var client = GrpcClient.observed(server, transport, trust, load.direct())) {
            var latency = new Histogram(LONGEST_NANOS, HISTOGRAM_DIGITS);
            oneByOne(client, load.warmup(), new Histogram(LONGEST_NANOS, HISTOGRAM_DIGITS), Progress.SILENT);
            var seconds = oneByOne(client, load.calls(), latency, progress);
            manyAtATime(client, load.warmup());
            var manySeconds = manyAtATime(client, load.calls());
            return new GrpcResult(transport, trust != null, client.lane(), transport.software(),
                    load.calls() / seconds, GrpcResult.Latency.of(latency), load.calls() / manySeconds);
        } catch (StatusRuntimeException e) {
            throw new ExampleFailure("a call to " + server + " failed: " + CallRecords.told(e), e);
        }
    }

    /**
     * On a thread of its own, so that this one can give up. A deadline of each call would be a timer of each call, and be
     * measured as well.
     */
    private double oneByOne(GrpcClient client, long calls, Histogram latency, Progress progress)
            throws InterruptedException {
        var ended = new AtomicLong();
        var seconds = CompletableFuture.supplyAsync(() -> oneByOne(client, calls, latency, progress, ended),
                task -> Thread.ofPlatform().daemon().name("calls").start(task));
        return await(seconds, ended, calls);
    }

    private double oneByOne(GrpcClient client, long calls, Histogram latency, Progress progress, AtomicLong ended) {
        var stub = ExerciseGrpc.newBlockingStub(client.channel());
        var start = System.nanoTime();
        for (var i = 0L; i < calls; i++) {
            var before = System.nanoTime();
            var reply = stub.return_(payload);
            latency.recordValue(Math.min(System.nanoTime() - before, LONGEST_NANOS));
            requireSame(reply);
            ended.lazySet(i + 1);
            if (i % PROGRESS_EVERY == 0) {
                progress.at((double) i / calls);
            }
        }
        return (System.nanoTime() - start) / 1e9;
    }

    private double manyAtATime(GrpcClient client, long calls) throws InterruptedException {
        var run = new Concurrent(ExerciseGrpc.newStub(client.channel()), calls);
        var start = System.nanoTime();
        for (var i = 0; i < Math.min(load.concurrency(), calls); i++) {
            run.next();
        }
        await(run.done, run.ended, calls);
        return (System.nanoTime() - start) / 1e9;
    }

    private void requireSame(Payload reply) {
        if (!reply.equals(payload)) {
            throw new ExampleFailure("other bytes came back than were sent");
        }
    }

    /**
     * @param ended how many calls have ended so far
     * @throws ExampleFailure if none ends any more
     */
    private <T> T await(CompletableFuture<T> run, AtomicLong ended, long calls) throws InterruptedException {
        var before = 0L;
        while (true) {
            try {
                return run.get(stallSeconds, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                var now = ended.get();
                if (now == before) {
                    throw new ExampleFailure("no call ended for " + stallSeconds + " s, " + now + " of " + calls
                            + " were done", e);
                }
                before = now;
            } catch (ExecutionException e) {
                switch (e.getCause()) {
                    case StatusRuntimeException status -> throw status;
                    case ExampleFailure told -> throw told;
                    case Throwable other -> throw new ExampleFailure("a call failed: " + other, other);
                }
            }
        }
    }

    /** Each call that ends begins the next, as long as there are any to be made. */
    private final class Concurrent {
        private final ExerciseStub stub;
        private final long calls;
        private final AtomicLong begun = new AtomicLong();
        private final AtomicLong ended = new AtomicLong();
        private final CompletableFuture<Void> done = new CompletableFuture<>();

        private Concurrent(ExerciseStub stub, long calls) {
            this.stub = stub;
            this.calls = calls;
            if (calls == 0) {
                done.complete(null);
            }
        }

        private void next() {
            if (begun.getAndIncrement() < calls) {
                stub.return_(payload, new Once());
            }
        }

        private final class Once implements StreamObserver<Payload> {
            @Override
            public void onNext(Payload reply) {
                requireSame(reply);
            }

            @Override
            public void onError(Throwable cause) {
                done.completeExceptionally(cause);
            }

            @Override
            public void onCompleted() {
                if (ended.incrementAndGet() == calls) {
                    done.complete(null);
                } else {
                    next();
                }
            }
        }
    }
}
