// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.aeron.logbuffer.FragmentHandler;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Does what an {@link AeronClient} announces, on a thread that does nothing else. */
final class AeronServer implements MeasuredServer {
    private final AeronStreams streams;
    private final Thread thread;
    private final FragmentHandler requests = (buffer, offset, length, _) -> received(buffer, offset, length);
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile boolean stopped;

    // Of the thread.
    private final UnsafeBuffer acknowledgement = new UnsafeBuffer(new byte[Phase.ACKNOWLEDGEMENT]);
    /** {@code null} while one is expected. */
    private Phase phase;
    private long missing;

    private AeronServer(AeronStreams streams) {
        this.streams = streams;
        thread = Thread.ofPlatform().name("aeron-server").start(() -> {
            try {
                while (!stopped) {
                    streams.receive(requests);
                }
                end.complete(null);
            } catch (Throwable t) {
                end.completeExceptionally(t);
            }
        });
    }

    static AeronServer start(String directory, Scenario scenario) {
        if (!AeronIpc.knows(scenario)) {
            throw new IllegalArgumentException("not for " + scenario);
        }
        return new AeronServer(AeronStreams.ofServer(directory));
    }

    private void received(DirectBuffer buffer, int offset, int length) {
        if (phase == null) {
            phase = AeronStreams.announced(buffer, offset, length);
            missing = phase.count();
            return;
        }
        if (length != phase.size()) {
            throw new ExampleFailure(length + " bytes came instead of " + phase.size());
        }
        missing--;
        if (phase.kind() == Phase.Kind.ECHO) {
            streams.send(buffer, offset, length);
        } else if (missing == 0) {
            streams.send(acknowledgement, 0, Phase.ACKNOWLEDGEMENT);
        }
        if (missing == 0) {
            phase = null;
        }
    }

    @Override
    public ProcessState state() {
        return ProcessState.now(new long[] {thread.threadId()});
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public void awaitStop() {
        try {
            end.join();
        } catch (CompletionException e) {
            throw new ExampleFailure("the aeron server failed: " + Explanation.of(e.getCause()), e.getCause());
        }
    }

    @Override
    public void close() {
        streams.close();
    }
}
