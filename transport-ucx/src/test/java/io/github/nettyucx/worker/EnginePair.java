// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.ucp.UcsStatus;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two engines of one thread, which turn only when a test has them turn, and links between them on the JVM's lane. */
final class EnginePair implements AutoCloseable {

    private static final long NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Both halves of a link. */
    record Both(Link here, Link there) {

        /** Whoever is closed last has a counterpart that is gone, and does nothing but close. */
        void close() {
            there.close();
            here.close();
        }
    }

    private record Send(Link link, long request) {
    }

    final ProgressEngine here = new ProgressEngine("here", new Counters<>(WorkerCounter.class));
    final ProgressEngine there = new ProgressEngine("there", new Counters<>(WorkerCounter.class));
    private final LinkKind kind = Lane.current().kind();
    private final Arena arena = Arena.ofConfined();
    private final Queue<Send> sends = new ArrayDeque<>();
    private final long bytes;

    /** @param longest of the messages that are going to be sent, in bytes */
    EnginePair(int longest) throws IOException {
        bytes = arena.allocate(longest).address();
    }

    Worker workerHere() throws IOException {
        return here.worker(kind, true, "there");
    }

    Worker workerThere() throws IOException {
        return there.worker(kind, false, "here");
    }

    /** A link between the workers that are for new ones. */
    Both connect() throws IOException {
        Worker mine = workerHere();
        Worker theirs = workerThere();
        Link here = mine.connect(theirs.address());
        return new Both(here, theirs.connect(mine.address()));
    }

    void send(Link link, int length, int channelId) {
        long request = link.send(length == 0 ? 0 : bytes, length, (long) channelId << 32);
        assertTrue(request >= 0, () -> "a send failed: " + request);
        if (request > 0) {
            sends.add(new Send(link, request));
        }
    }

    /** Frees the sends that have completed. @return whether there are others */
    boolean isSending() {
        for (Iterator<Send> all = sends.iterator(); all.hasNext();) {
            Send send = all.next();
            if (send.link.status(send.request) != UcsStatus.INPROGRESS) {
                send.link.free(send.request);
                all.remove();
            }
        }
        return !sends.isEmpty();
    }

    /** Nobody waits for those that have not completed. */
    void abandonSends() {
        sends.forEach(send -> send.link.abandon(send.request, null));
        sends.clear();
    }

    /** Turns of both. */
    void until(BooleanSupplier condition, String otherwise) {
        until(condition, () -> {
            there.poll();
            here.poll();
        }, otherwise);
    }

    static void until(BooleanSupplier condition, Runnable turn, String otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - start < NANOS, otherwise);
            turn.run();
        }
    }

    static void discard(Link link, long message) {
        long request = link.receive(message, 0, 0);
        if (request > 0) {
            link.abandon(request, null);
        }
    }

    @Override
    public void close() {
        here.close();
        there.close();
        arena.close();
    }
}
