// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.grpc.proto.ExerciseGrpc.ExerciseStub;
import io.github.nettyucx.examples.grpc.proto.Payload;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.AbstractHistogram;

/**
 * Makes one round trip after the other. Each is begun where the one before has ended: on an event loop, or on one of
 * gRPC's threads. So there is no other thread to be woken, and fields need no lock: gRPC hands them on with the call.
 */
abstract class Caller implements StreamObserver<Payload> {
    final ExerciseStub stub;
    final Payload payload;
    /** Written where calls end, read by whoever watches for a stall. */
    private final AtomicLong made = new AtomicLong();
    private AbstractHistogram histogram;
    private long left;
    private long begunAt;
    volatile CompletableFuture<Long> end = CompletableFuture.completedFuture(0L);

    private Caller(ExerciseStub stub, Payload payload) {
        this.stub = stub;
        this.payload = payload;
    }

    /**
     * From any thread, when what was started before has ended.
     *
     * @param nanos records how long each takes
     * @return when the last one has ended, by {@link System#nanoTime}
     */
    final CompletableFuture<Long> start(long count, AbstractHistogram nanos) {
        var future = new CompletableFuture<Long>();
        end = future;
        histogram = nanos;
        left = count;
        next();
        return future;
    }

    private void next() {
        begunAt = System.nanoTime();
        call();
    }

    abstract void call();

    /** Of a round trip. */
    final void ended() {
        var now = System.nanoTime();
        Durations.record(histogram, now - begunAt);
        made.lazySet(made.getPlain() + 1);
        left--;
        if (left > 0) {
            next();
        } else {
            end.complete(now);
        }
    }

    /** Round trips so far. From any thread; an older value may be seen. */
    final long made() {
        return made.get();
    }

    /** Nothing will be started any more. */
    void end() {
    }

    @Override
    public void onNext(Payload reply) {
        if (!reply.equals(payload)) {
            throw new ExampleFailure("other bytes came back than were sent"); // Which cancels the call.
        }
    }

    @Override
    public final void onError(Throwable cause) {
        if (!end.completeExceptionally(cause)) {
            System.err.println("after the last call: " + cause);
        }
    }

    /** A call for each round trip. */
    static final class Unary extends Caller {
        Unary(ExerciseStub stub, Payload payload) {
            super(stub, payload);
        }

        @Override
        void call() {
            stub.return_(payload, this);
        }

        @Override
        public void onCompleted() {
            ended();
        }
    }

    /** One call in which messages go there and back. */
    static final class Stream extends Caller {
        private StreamObserver<Payload> requests;

        Stream(ExerciseStub stub, Payload payload) {
            super(stub, payload);
        }

        @Override
        void call() {
            if (requests == null) {
                requests = stub.returnEach(this);
            }
            requests.onNext(payload);
        }

        @Override
        public void onNext(Payload reply) {
            super.onNext(reply);
            ended();
        }

        @Override
        void end() {
            if (requests != null) {
                requests.onCompleted();
            }
        }

        @Override
        public void onCompleted() {
            // No matter after the last one.
            end.completeExceptionally(new ExampleFailure("the server ended the stream"));
        }
    }
}
