// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.ucp.UcpConnectionRequest;
import io.github.nettyucx.ucp.UcpListener;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A worker whose peers send more than it takes. Both sides are driven by the test's thread, turn by turn. */
@Tag("ucx-matrix")
class BusyWorkerTest {

    private static final int BUSY_ID = 4711;
    private static final int DYING_ID = 4712;
    private static final int LENGTH = 8;
    /** Several turns' worth. */
    private static final int WAITING = 2000;
    private static final int LAST_WORDS = 100;
    private static final int MESSAGES_PER_WRITE = 64;
    private static final long HELD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Queue<UcpConnectionRequest> requests = new ArrayDeque<>();
    private final Queue<Long> sends = new ArrayDeque<>();
    private ProgressEngine here;
    private ProgressEngine there;
    private int sent;
    private int taken;
    private int lastWords;
    private boolean told;

    @OnEachLane
    void theEndOfAConnectionIsToldWhileOthersSendMoreThanIsTaken() throws Exception {
        try (Arena arena = Arena.ofConfined();
             ProgressEngine receiver = new ProgressEngine("receiver", new Counters<>(WorkerCounter.class));
             ProgressEngine sender = new ProgressEngine("sender", new Counters<>(WorkerCounter.class))) {
            here = receiver;
            there = sender;
            long bytes = arena.allocate(LENGTH).address();
            InetAddress loopback = Peers.loopback(0).getAddress();
            Worker listening = here.workerForListening(loopback);
            UcpListener listener = listening.listen(Peers.loopback(0), requests::add);
            Worker connecting = there.workerForConnecting(listener.localAddress());
            Endpoint busy = connecting.connect(listener.localAddress(), null, status -> { });
            Endpoint busyHere = accept(loopback, busy, status -> { });
            Endpoint dying = connecting.connect(listener.localAddress(), null, status -> { });
            Endpoint dyingHere = accept(loopback, dying, status -> {
                assertEquals(LAST_WORDS, lastWords, "what came before the end");
                told = true;
            });
            assertEquals(busyHere.worker(), dyingHere.worker());
            busyHere.register(BUSY_ID, (tag, message, length) -> {
                discard(busyHere, message);
                if (++taken % MESSAGES_PER_WRITE == 0) {
                    holdUp();
                    busyHere.worker().catchUp();
                }
            });
            dyingHere.register(DYING_ID, (tag, message, length) -> {
                discard(dyingHere, message);
                lastWords++;
            });

            until(() -> sent - taken >= WAITING && taken > WAITING, busy, bytes, "no load");
            for (int i = 0; i < LAST_WORDS; i++) {
                send(dying, bytes, DYING_ID);
            }
            complete(dying, dying.flush(), busy, bytes);
            dying.close();
            until(() -> told, busy, bytes, "the end is not told");

            busy.close();
            busyHere.close();
            dyingHere.close();
            while (!sends.isEmpty() || sender.poll() + receiver.poll() > 0) {
                freeSends(busy);
            }
            listening.close(listener);
        }
    }

    private Endpoint accept(InetAddress local, Endpoint asking, EndpointListener listener) throws IOException {
        long flush = asking.flush();
        until(() -> !requests.isEmpty(), null, 0, "no request");
        UcpConnectionRequest request = requests.remove();
        Endpoint accepted = here.workerForAccepting(local, request.clientId()).accept(request, listener);
        complete(accepted, accepted.flush(), null, 0);
        complete(asking, flush, null, 0);
        return accepted;
    }

    private void complete(Endpoint endpoint, long request, Endpoint busy, long bytes) {
        assertTrue(request >= 0, () -> "status " + request);
        if (request > 0) {
            until(() -> endpoint.status(request) != 1, busy, bytes, "an operation does not end");
            assertEquals(0, endpoint.status(request));
            endpoint.free(request);
        }
    }

    /** Turns of both sides; with {@code busy}, there is more on its way before each than the receiver takes in one. */
    private void until(BooleanSupplier condition, Endpoint busy, long bytes, String otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - start < NANOS, otherwise);
            while (busy != null && sent - taken < 2 * WAITING) {
                sent++;
                send(busy, bytes, BUSY_ID);
            }
            there.poll();
            here.poll();
            if (busy != null) {
                freeSends(busy);
            }
        }
    }

    private void send(Endpoint endpoint, long bytes, int id) {
        long request = endpoint.send(bytes, LENGTH, (long) id << 32);
        assertTrue(request >= 0, () -> "status " + request);
        if (request > 0) {
            sends.add(request);
        }
    }

    private void freeSends(Endpoint endpoint) {
        while (!sends.isEmpty() && endpoint.status(sends.peek()) != 1) {
            endpoint.free(sends.remove());
        }
    }

    private static void discard(Endpoint endpoint, long message) {
        long request = endpoint.receive(message, 0, 0);
        if (request > 0) {
            endpoint.abandon(request, null);
        }
    }

    /** As a handler does that takes its time before it writes; the peers go on meanwhile. */
    private void holdUp() {
        long start = System.nanoTime();
        do {
            there.poll();
        } while (System.nanoTime() - start < HELD_UP_NANOS);
    }
}
