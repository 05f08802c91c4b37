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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

/** Measures unary calls over one connection: one after the other, then many at a time. */
final class CallMeasurement {
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int HISTOGRAM_DIGITS = 3;
    private static final int PROGRESS_EVERY = 1000;
    private static final long STALL_SECONDS = 60;

    private final GrpcLoad load;
    private final Payload payload;

    CallMeasurement(GrpcLoad load) {
        this.load = load;
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

    private double oneByOne(GrpcClient client, long calls, Histogram latency, Progress progress) {
        var stub = ExerciseGrpc.newBlockingStub(client.channel());
        var start = System.nanoTime();
        for (var i = 0L; i < calls; i++) {
            var before = System.nanoTime();
            var reply = stub.return_(payload);
            latency.recordValue(Math.min(System.nanoTime() - before, LONGEST_NANOS));
            requireSame(reply);
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
        run.await();
        return (System.nanoTime() - start) / 1e9;
    }

    private void requireSame(Payload reply) {
        if (!reply.equals(payload)) {
            throw new ExampleFailure("other bytes came back than were sent");
        }
    }

    /** Each call that ends begins the next, as long as there are any to be made. */
    private final class Concurrent {
        private final ExerciseStub stub;
        private final long calls;
        private final AtomicLong begun = new AtomicLong();
        private final AtomicLong ended = new AtomicLong();
        private final CountDownLatch done = new CountDownLatch(1);
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        private Concurrent(ExerciseStub stub, long calls) {
            this.stub = stub;
            this.calls = calls;
        }

        private void next() {
            if (begun.getAndIncrement() < calls) {
                stub.return_(payload, new Once());
            }
        }

        private void await() throws InterruptedException {
            var before = -1L;
            while (!done.await(STALL_SECONDS, TimeUnit.SECONDS)) {
                if (before == ended.get()) {
                    throw new ExampleFailure("no call ended for " + STALL_SECONDS + " s, " + before + " of " + calls
                            + " were done");
                }
                before = ended.get();
            }
            switch (failure.get()) {
                case null -> { }
                case StatusRuntimeException status -> throw status;
                case ExampleFailure told -> throw told;
                case Throwable other -> throw new ExampleFailure("a call failed: " + other, other);
            }
        }

        private final class Once implements StreamObserver<Payload> {
            @Override
            public void onNext(Payload reply) {
                requireSame(reply);
            }

            @Override
            public void onError(Throwable cause) {
                failure.compareAndSet(null, cause);
                done.countDown();
            }

            @Override
            public void onCompleted() {
                if (ended.incrementAndGet() == calls) {
                    done.countDown();
                } else {
                    next();
                }
            }
        }
    }
}
