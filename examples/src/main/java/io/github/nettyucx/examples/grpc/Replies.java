// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.Checks;
import io.github.nettyucx.examples.ExampleFailure;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Keeps what comes back until somebody asks for it. */
class Replies<T> implements StreamObserver<T> {
    private sealed interface Event<T> {
        record Message<T>(T content) implements Event<T> {
        }

        record End<T>(Status status) implements Event<T> {
        }
    }

    private final BlockingQueue<Event<T>> events = new LinkedBlockingQueue<>();

    @Override
    public void onNext(T message) {
        events.add(new Event.Message<>(message));
    }

    @Override
    public void onError(Throwable failure) {
        events.add(new Event.End<>(Status.fromThrowable(failure)));
    }

    @Override
    public void onCompleted() {
        events.add(new Event.End<>(Status.OK));
    }

    /** Waits for a message. */
    T next() throws InterruptedException {
        return switch (nextEvent()) {
            case Event.Message<T> message -> message.content;
            case Event.End<T> end -> throw new StatusRuntimeException(end.status);
        };
    }

    /** Waits for an orderly end. */
    void requireCompleted() throws InterruptedException {
        var status = end();
        Checks.require(status.isOk(), "the call did not complete, but ended with " + status);
    }

    /** Waits for the end; no message may come before. */
    Status end() throws InterruptedException {
        return switch (nextEvent()) {
            case Event.Message<T> _ -> throw new ExampleFailure("there was a message more than expected");
            case Event.End<T> end -> end.status;
        };
    }

    private Event<T> nextEvent() throws InterruptedException {
        var event = events.poll(CallChecks.PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (event == null) {
            throw new ExampleFailure("nothing came for " + CallChecks.PATIENCE_SECONDS + " s");
        }
        return event;
    }
}
