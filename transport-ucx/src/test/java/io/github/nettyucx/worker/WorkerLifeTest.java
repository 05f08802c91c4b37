// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** When a worker goes, and what those learn who use its links. */
@Tag("ucx-matrix")
class WorkerLifeTest {

    private static final int ID = 1;
    private static final int LENGTH = 8;
    /** Of a message that UCX does not send at once. */
    private static final int LONG = 1 << 20;

    @OnEachLane(linksOnly = true)
    void aWorkerWhoseAddressWasToldStaysWithoutLinks() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            Worker worker = engines.workerHere();
            worker.pin();
            worker.address();
            long start = System.nanoTime();
            EnginePair.until(() -> System.nanoTime() - start > 2 * Worker.IDLE_NANOS, engines.here::poll, "");
            assertSame(worker, engines.workerHere());
            worker.retire();
            assertNotSame(worker, engines.workerHere());
            Link link = worker.connect(engines.workerThere().address());
            worker.unpin();
            EnginePair.until(() -> engines.here.workerCount() == 1, engines.here::poll, "a worker without users stays");
            assertTrue(link.isOpen());
            link.close();
            EnginePair.until(() -> engines.here.workerCount() == 0, engines.here::poll, "a worker without links stays");
        }
    }

    @OnEachLane(linksOnly = true)
    void whoBeginsToUseALinkThatHasFailedIsToldAsWell() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            List<String> told = new ArrayList<>();
            link.here().add(status -> told.add("first"));
            link.here().onError(null, UcsStatus.ERR_ENDPOINT_TIMEOUT);
            engines.until(() -> !told.isEmpty(), "the failure is not told");
            link.here().add(status -> told.add("second: " + UcsStatus.name(status)));
            assertEquals(List.of("first"), told, "told within the call");
            EnginePair.until(() -> told.size() == 2, engines.here::poll, "the late one is not told");
            assertEquals(List.of("first", "second: " + UcsStatus.name(UcsStatus.ERR_ENDPOINT_TIMEOUT)), told);
            link.here().add(status -> told.add("too late"));
            link.close();
            engines.here.poll();
            engines.here.poll();
            assertEquals(2, told.size(), "told after the close");
        }
    }

    @OnEachLane(linksOnly = true)
    void aLoopDoesNotSleepOverAFailureThatWasNoticedBetweenTheTurns() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            EnginePair.until(() -> engines.there.poll() + engines.here.poll() == 0 && isArmed(engines.here), () -> {
            }, "there is always something to do");
            List<Integer> told = new ArrayList<>();
            link.here().add(told::add);
            // As UCX does it while another link is being closed.
            link.here().onError(null, UcsStatus.ERR_CONNECTION_RESET);
            assertFalse(engines.here.arm());
            engines.here.poll();
            assertEquals(List.of(UcsStatus.ERR_CONNECTION_RESET), told);
            link.close();
        }
    }

    @OnEachLane(linksOnly = true)
    void aWorkerThatUcxCannotArmEndsWithItsLinksAndHoldsUpNobody() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            Worker worker = engines.workerHere();
            EnginePair.until(() -> engines.there.poll() + engines.here.poll() == 0 && isArmed(engines.here), () -> {
            }, "there is always something to do");
            List<Integer> told = new ArrayList<>();
            link.here().add(told::add);
            // It has to be armed again. Whether there is work, which comes first, is for UCX and the kernel to say. So none is
            // done.
            worker.signalled();
            worker.armBy(handle -> UcsStatus.ERR_IO_ERROR);
            assertFalse(engines.here.arm());
            assertTrue(worker.isRetired());
            assertEquals(List.of(), told, "told within the call");
            engines.here.poll();
            assertEquals(List.of(UcsStatus.ERR_IO_ERROR), told);
            assertFalse(link.here().isOpen());
            assertFalse(engines.here.arm(), "it still cannot be armed");
            Link late = worker.connect(engines.workerThere().address());
            assertFalse(engines.here.arm());
            assertFalse(late.isOpen(), "a link that was agreed on before");
            late.close();
            link.close();
            EnginePair.until(() -> engines.here.workerCount() == 0, engines.here::poll, "a worker without links stays");
            assertTrue(engines.here.arm());
        }
    }

    /** Over shared memory it was an empty datagram, which anybody can have sent, and which is gone with the answer. */
    @OnEachLane(linksOnly = true)
    void overSharedMemoryAResetWhileArmingEndsNothing() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            Worker worker = engines.workerHere();
            EnginePair.until(() -> engines.there.poll() + engines.here.poll() == 0 && isArmed(engines.here), () -> {
            }, "there is always something to do");
            worker.signalled();
            worker.armBy(handle -> UcsStatus.ERR_CONNECTION_RESET);
            assertFalse(engines.here.arm(), "it would sleep, and is not armed");
            engines.here.poll();
            assertEquals(Lane.current() != Lane.SHM, worker.isRetired());
            assertEquals(Lane.current() == Lane.SHM, link.here().isOpen());
            if (Lane.current() == Lane.SHM) {
                worker.armBy(handle -> UcsStatus.OK);
                assertTrue(engines.here.arm());
            }
            link.close();
        }
    }

    @OnEachLane(linksOnly = true)
    void aWorkerIsForNoMoreLinksThanUcxCanNumber() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            Worker worker = engines.workerHere();
            worker.made(Worker.MAX_LINKS - 2);
            EnginePair.Both first = engines.connect();
            assertSame(worker, engines.workerHere());
            EnginePair.Both last = engines.connect();
            assertNotSame(worker, engines.workerHere());
            assertTrue(first.here().isOpen() && last.here().isOpen());
            first.close();
            last.close();
        }
    }

    /** A loop that a handler holds up for long looks for workers that nobody uses before anything else. */
    @OnEachLane(linksOnly = true)
    void whatHasCompletedSinceTheLastTurnIsGivenBackBeforeTheWorkerGoes() throws Exception {
        Counters<WorkerCounter> counters = new Counters<>(WorkerCounter.class);
        try (EnginePair engines = new EnginePair(LONG); ProgressEngine engine = new ProgressEngine("own", counters)) {
            Worker other = engines.workerThere();
            LinkKind kind = Lane.current().kind();
            Worker worker = new Worker(engine, "own", kind, UcxRuntime.newWorker(kind, "own"), null);
            Link here = worker.connect(other.address());
            Link there = other.connect(worker.address());
            there.register(ID, (tag, message, length) -> EnginePair.discard(there, message));
            ByteBuf memory = Unpooled.directBuffer(LONG).writeZero(LONG);
            List<Long> sends = new ArrayList<>();
            List<String> done = new ArrayList<>();
            EnginePair.until(() -> !sends.isEmpty(), () -> {
                long send = here.send(BufferAddress.of(memory, 0, LONG), LONG, (long) ID << 32);
                if (send > 0) {
                    sends.add(send);
                    worker.adopt(send, memory.retain(), status -> done.add("sent"));
                }
            }, "every send completes at once");
            EnginePair.until(() -> here.status(sends.getFirst()) != UcsStatus.INPROGRESS, () -> {
                engines.there.poll();
                worker.settle();
            }, "a send does not complete");
            assertEquals(List.of(), done);
            assertEquals(2, memory.refCnt());
            here.close();
            worker.close();
            assertEquals(List.of("sent"), done);
            assertEquals(1, memory.refCnt());
            assertEquals(counters.get(WorkerCounter.OPERATIONS_STARTED), counters.get(WorkerCounter.OPERATIONS_FINISHED));
            memory.release();
            there.close();
        }
    }

    /** Whoever is told that an operation has completed may have given the loop something to do. */
    @OnEachLane(linksOnly = true)
    void aLoopDoesNotSleepOverWhatHasBeenFoundToBeCompleteBeforeTheSleep() throws Exception {
        try (EnginePair engines = new EnginePair(LONG)) {
            EnginePair.Both link = engines.connect();
            Worker worker = link.here().worker();
            link.there().register(ID, (tag, message, length) -> EnginePair.discard(link.there(), message));
            ByteBuf memory = Unpooled.directBuffer(LONG).writeZero(LONG);
            List<Long> sends = new ArrayList<>();
            List<String> done = new ArrayList<>();
            EnginePair.until(() -> !sends.isEmpty(), () -> {
                long send = link.here().send(BufferAddress.of(memory, 0, LONG), LONG, (long) ID << 32);
                if (send > 0) {
                    sends.add(send);
                    worker.adopt(send, memory.retain(), status -> done.add("sent"));
                }
            }, "every send completes at once");
            // Until it is one of those that are looked at now and then only.
            long start = System.nanoTime();
            EnginePair.until(() -> System.nanoTime() - start > 4 * Orphans.LASTING_NANOS, engines.here::poll, "");
            EnginePair.until(() -> link.here().status(sends.getFirst()) != UcsStatus.INPROGRESS, () -> {
                engines.there.poll();
                worker.settle();
            }, "a send does not complete");
            EnginePair.until(() -> !done.isEmpty(), () -> {
                if (!isArmed(engines.here)) {
                    engines.here.poll();
                } else {
                    assertEquals(List.of(), done, "the loop would sleep");
                }
            }, "nobody looks at the send");
            assertEquals(1, memory.refCnt());
            memory.release();
            link.close();
        }
    }

    private static boolean isArmed(ProgressEngine engine) {
        try {
            return engine.arm();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @OnEachLane(linksOnly = true)
    void linksOfTheSameTwoWorkersAreMatchedByTheirOrder() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            List<EnginePair.Both> links = new ArrayList<>();
            int[] received = new int[4];
            for (int i = 0; i < received.length; i++) {
                // Some go before the next ones come.
                EnginePair.Both link = engines.connect();
                int number = i;
                link.here().register(ID + i, (tag, message, length) -> {
                    EnginePair.discard(link.here(), message);
                    received[number]++;
                });
                engines.send(link.there(), LENGTH, ID + i);
                engines.until(() -> received[number] == 1 && !engines.isSending(), "nothing arrives");
                if (i % 2 == 0) {
                    link.here().unregister(ID + i);
                    link.close();
                } else {
                    links.add(link);
                }
            }
            for (EnginePair.Both link : links) {
                // The other side's counterpart learns of it, and no other.
                link.there().close();
            }
            assertSame(links.getFirst().here().worker(), links.getLast().here().worker());
            links.forEach(link -> link.here().close());
        }
    }
}
