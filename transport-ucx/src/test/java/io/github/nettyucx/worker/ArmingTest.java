// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.ucp.UcsStatus;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A worker is not armed again for nothing, and all the same tells of each event. One thread drives both sides. */
class ArmingTest {

    private static final int ID = 4711;
    /** Received at once: an operation that UCX does not complete in the call would be a reason to arm, too. */
    private static final int LENGTH = 0;
    private static final int TIMES = 100;
    private static final int ROUNDS = 5_000;
    /** What takes longer has been lost. */
    private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int EARLY = 3;

    /** Of a message that is received later than it comes. */
    private static final int KEPT = 4712;

    private EnginePair pair;
    private EnginePair.Both link;
    private int sent;
    private int taken;
    private long kept;

    @OnEachLane(linksOnly = true)
    void isNotArmedAgainBeforeSomethingHasHappened() throws Exception {
        run(() -> {
            arm();
            long before = armCalls();
            for (int i = 0; i < TIMES; i++) {
                pair.here.poll();
                arm();
            }
            assertEquals(Lane.current() == Lane.SHM ? before : before + TIMES, armCalls());
            send();
            awaitAll();
            arm();
            assertTrue(armCalls() > before, "a message has come since");
        });
    }

    @OnEachLane(linksOnly = true)
    void isArmedAgainAfterAReceive() throws Exception {
        run(() -> {
            link.here().register(KEPT, (tag, message, length) -> kept = message);
            pair.send(link.there(), LENGTH, KEPT);
            pair.until(() -> kept != 0, "the message does not come");
            arm();
            long before = armCalls();
            EnginePair.discard(link.here(), kept);
            arm();
            assertTrue(armCalls() > before, "UCX may have something to answer");
        });
    }

    @OnEachLane(linksOnly = true)
    void aSleepIsNotEndedAgainAndAgainByWhatHasBeenTakenWithoutOne() throws Exception {
        run(() -> {
            arm();
            send();
            pair.until(() -> taken == sent, "the message does not come");
            int early = 0;
            for (int i = 0; i < TIMES; i++) {
                long start = System.nanoTime();
                arm();
                pair.here.await(SHORT_NANOS);
                early += System.nanoTime() - start < SHORT_NANOS ? 1 : 0;
                pair.here.poll();
            }
            assertTrue(early <= EARLY, early + " of " + TIMES + " sleeps ended early, and nothing came");
        });
    }

    @OnEachLane(linksOnly = true)
    void whateverCameBeforeAndWhenASleepIsEndedByTheNextMessage() throws Exception {
        SplittableRandom random = new SplittableRandom(4711);
        run(() -> {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = random.nextInt(3); i > 0; i--) {
                    send();
                }
                if (random.nextBoolean()) {
                    pair.here.poll();
                }
                if (random.nextInt(4) == 0) {
                    pair.send(link.here(), LENGTH, ID);
                    pair.there.poll();
                }
                arm();
                if (random.nextInt(8) == 0) {
                    pair.here.await(0);
                    arm();
                }
                send();
                awaitAll();
            }
        });
    }

    /** What waits for room in a peer's queue keeps the workers from being armed. */
    @OnEachLane(lanes = Lane.SHM)
    void napsLastThoughAPeerHasSignalledThatHasStoppedSince() throws Exception {
        run(() -> {
            arm();
            send();
            pair.until(() -> taken == sent, "the message does not come");
            fill();
            assertNapsLast();
        });
    }

    @OnEachLane(lanes = Lane.SHM)
    void napsLastThoughAnotherPeerHasSignalled() throws Exception {
        run(() -> {
            try (EnginePair others = new EnginePair(1)) {
                Worker second = pair.here.worker(Lane.current().kind(), true, "another");
                Worker other = others.workerThere();
                var living = new EnginePair.Both(second.connect(other.address()), other.connect(second.address()));
                living.here().register(ID, (tag, message, length) -> {
                    EnginePair.discard(living.here(), message);
                    taken++;
                });
                Runnable turn = () -> {
                    others.there.poll();
                    pair.here.poll();
                };
                // The first message connects, the second comes to a worker that is armed.
                for (int i = 0; i < 2; i++) {
                    arm();
                    if (i == 1) {
                        fill();
                    }
                    sent++;
                    others.send(living.there(), LENGTH, ID);
                    EnginePair.until(() -> taken == sent && !others.isSending(), turn, "the message does not come");
                }
                assertNapsLast();
                living.close();
            }
        });
    }

    /** The other side does not look. */
    private void fill() {
        for (int i = 0; !pair.isSending(); i++) {
            assertTrue(i < ROUNDS, "there is always room");
            pair.send(link.here(), LENGTH, ID);
        }
    }

    private void assertNapsLast() throws IOException {
        int early = 0;
        for (int i = 0; i < TIMES; i++) {
            assertFalse(pair.here.arm(), "nothing waits for room");
            long start = System.nanoTime();
            pair.here.await(SHORT_NANOS);
            early += System.nanoTime() - start < SHORT_NANOS ? 1 : 0;
            pair.here.poll();
        }
        assertTrue(early <= EARLY, early + " of " + TIMES + " naps ended early, and nothing came");
    }

    /** UCX does not look once more by itself, and an RDMA device may tell only of what comes when it is armed already. */
    @OnEachLane(linksOnly = true)
    void overRdmaThereIsALookAfterTheArming() throws Exception {
        try (EnginePair engines = new EnginePair(1);
             ProgressEngine engine = new ProgressEngine("own", new Counters<>(WorkerCounter.class))) {
            Worker other = engines.workerThere();
            Worker worker = new Worker(engine, "own", LinkKind.RDMA, UcxRuntime.newWorker(Lane.current().kind(), "own"), null);
            Link here = worker.connect(other.address());
            Link there = other.connect(worker.address());
            here.register(ID, (tag, message, length) -> {
                EnginePair.discard(here, message);
                taken++;
            });
            engines.send(there, LENGTH, ID);
            EnginePair.until(() -> taken == 1 && !engines.isSending(), () -> {
                engines.there.poll();
                worker.poll();
            }, "the first message does not come");
            EnginePair.until(() -> engines.there.poll() + worker.poll() == 0, () -> {
            }, "there is always something to do");

            worker.armBy(handle -> {
                if (sent == 0) {
                    sent++;
                    engines.send(there, LENGTH, ID);
                }
                engines.there.poll();
                return UcsStatus.OK;
            });
            EnginePair.until(() -> !worker.arm(), () -> {
            }, "the loop would sleep over a message that came before the worker was armed");
            EnginePair.until(() -> taken == 2, worker::poll, "the message is not taken");

            engines.until(() -> !engines.isSending(), "the message is not sent");
            here.close();
            worker.close();
            there.close();
        }
    }

    @FunctionalInterface
    private interface Body {
        void run() throws Exception;
    }

    private void run(Body body) throws Exception {
        try (EnginePair engines = new EnginePair(1)) {
            pair = engines;
            link = engines.connect();
            link.here().register(ID, (tag, message, length) -> {
                EnginePair.discard(link.here(), message);
                taken++;
            });
            link.there().register(ID, (tag, message, length) -> EnginePair.discard(link.there(), message));
            // UCX connects with the first messages.
            send();
            engines.send(link.here(), LENGTH, ID);
            engines.until(() -> taken == sent && !engines.isSending(), "the first messages do not come");
            body.run();
            engines.until(() -> taken == sent && !engines.isSending(), "messages got lost");
            link.close();
        }
    }

    private void send() {
        sent++;
        pair.send(link.there(), LENGTH, ID);
        pair.there.poll();
    }

    /** Turns until there is nothing to do. */
    private void arm() throws IOException {
        long start = System.nanoTime();
        while (!pair.here.arm()) {
            assertTrue(System.nanoTime() - start < LOST_NANOS, "the worker cannot be armed");
            pair.here.poll();
            pair.there.poll();
        }
    }

    /** Sleeps until everything has come. */
    private void awaitAll() throws IOException {
        while (taken < sent) {
            long start = System.nanoTime();
            pair.here.await(LOST_NANOS);
            assertTrue(System.nanoTime() - start < LOST_NANOS, "nobody was told of a message");
            pair.there.poll();
            while (pair.here.poll() > 0) {
                pair.there.poll();
            }
            if (taken < sent) {
                arm();
            }
            pair.isSending();
        }
    }

    private long armCalls() {
        return pair.here.counters().get(WorkerCounter.ARM_CALLS);
    }
}
