// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.github.nettyucx.examples.ExampleFailure;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** What a process sends through shared memory, and what it receives. Of one thread, but for {@link #close}. */
final class AeronStreams implements AutoCloseable {
    private static final String CHANNEL = "aeron:ipc";
    private static final int REQUESTS = 1;
    private static final int REPLIES = 2;
    private static final int FRAGMENTS = 64;
    private static final long CONNECT_SECONDS = 30;

    private final Aeron aeron;
    private final ExclusivePublication out;
    private final Subscription in;

    private AeronStreams(String directory, int sent, int received) {
        aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory));
        out = aeron.addExclusivePublication(CHANNEL, sent);
        in = aeron.addSubscription(CHANNEL, received);
    }

    static AeronStreams ofServer(String directory) {
        return new AeronStreams(directory, REPLIES, REQUESTS);
    }

    static AeronStreams ofClient(String directory) {
        return new AeronStreams(directory, REQUESTS, REPLIES);
    }

    /** Until there is another side. */
    void awaitConnected() {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CONNECT_SECONDS);
        while (!out.isConnected() || !in.isConnected()) {
            if (System.nanoTime() - deadline > 0) {
                throw new ExampleFailure("Aeron's streams were not connected within " + CONNECT_SECONDS + " s");
            }
            Thread.onSpinWait();
        }
    }

    /** Waits for place, without a pause. */
    void send(DirectBuffer buffer, int offset, int length) {
        long result;
        while ((result = out.offer(buffer, offset, length)) < 0) {
            if (result != Publication.BACK_PRESSURED && result != Publication.ADMIN_ACTION) {
                throw new ExampleFailure("Aeron cannot send: " + Publication.errorString(result));
            }
            Thread.onSpinWait();
        }
    }

    /** Tells the other side what follows. */
    void announce(Phase phase) {
        var header = Unpooled.buffer(Phase.HEADER);
        phase.encode(header);
        send(new UnsafeBuffer(header.array()), 0, Phase.HEADER);
    }

    static Phase announced(DirectBuffer buffer, int offset, int length) {
        if (length != Phase.HEADER) {
            throw new ExampleFailure("a message of " + length + " bytes came that was not announced");
        }
        var header = new byte[Phase.HEADER];
        buffer.getBytes(offset, header);
        return Phase.decode(Unpooled.wrappedBuffer(header));
    }

    /** Takes what has arrived; if that is nothing, tells the processor that this is a loop. */
    void receive(FragmentHandler handler) {
        if (in.poll(handler, FRAGMENTS) == 0) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        aeron.close();
    }
}
