// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.ucp.UcsStatus;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What an operation that UCX fails does to its link, and to others. */
class HoledQueuesTest {

    private static final int ID = 1;
    private static final int LENGTH = 8;

    @OnEachLane(lanes = Lane.SHM)
    void aLinkWhoseOperationHasFailedIsToldOnceAndItsPeersWorkerIsLeft() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            Worker worker = engines.workerHere();
            List<Integer> told = new ArrayList<>();
            link.here().add(told::add);
            EnginePair.until(() -> engines.there.poll() + engines.here.poll() == 0 && isArmed(engines.here), () -> {
            }, "there is always something to do");
            for (int other : new int[] {UcsStatus.ERR_MESSAGE_TRUNCATED, UcsStatus.ERR_IO_ERROR, UcsStatus.ERR_CANCELED}) {
                link.here().operationFailed(other);
                assertTrue(link.here().isOpen(), UcsStatus.name(other));
            }
            link.here().operationFailed(UcsStatus.ERR_SHMEM_SEGMENT);
            link.here().operationFailed(UcsStatus.ERR_NO_MEMORY);
            assertEquals(List.of(), told, "told within the call");
            assertTrue(link.here().isFailing());
            assertFalse(engines.here.arm(), "the loop would sleep over it");
            assertEquals(UcsStatus.ERR_SHMEM_SEGMENT, link.here().send(0, 0, 0));
            engines.here.poll();
            assertEquals(List.of(UcsStatus.ERR_SHMEM_SEGMENT), told);
            assertFalse(link.here().isFailing());
            assertNotSame(worker, engines.workerHere());
            assertThrows(IOException.class, () -> engines.workerHere().connect(engines.workerThere().address()));
            engines.workerThere().retire();
            EnginePair.Both next = engines.connect();
            assertTrue(next.here().isOpen());
            next.close();
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

    @OnEachLane(lanes = Lane.SHM)
    void anotherLoopThatSleepsIsWokenAndLeavesTheWorkerToo() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH);
             ProgressEngine other = new ProgressEngine("other", new Counters<>(WorkerCounter.class))) {
            EnginePair.Both link = engines.connect();
            Worker elsewhere = other.worker(LinkKind.SHM, true, "there");
            Link same = elsewhere.connect(engines.workerThere().address());
            Link unlike = elsewhere.connect(engines.workerHere().address());
            List<Integer> told = new ArrayList<>();
            same.add(told::add);
            FutureTask<Void> sleep = new FutureTask<>(() -> {
                other.await(-1);
                return null;
            });
            Thread sleeper = Thread.ofPlatform().daemon().start(sleep);
            EnginePair.until(() -> sleeper.getState() == Thread.State.RUNNABLE, Thread::onSpinWait, "it does not start");
            link.here().operationFailed(UcsStatus.ERR_SHMEM_SEGMENT);
            sleep.get(20, TimeUnit.SECONDS);
            other.poll();
            assertEquals(List.of(UcsStatus.ERR_SHMEM_SEGMENT), told);
            assertTrue(unlike.isOpen(), "a link with another worker");
            same.close();
            unlike.close();
            link.close();
        }
    }

    @OnEachLane(lanes = Lane.SHM)
    void aMessageThatIsLongerThanWasAskedForIsNoFailure() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            List<Long> answers = new ArrayList<>();
            link.there().register(ID, (tag, message, length) -> answers.add(link.there().receive(message, 0, 0)));
            engines.send(link.here(), LENGTH, ID);
            engines.until(() -> !answers.isEmpty() && !engines.isSending(), "the message does not come");
            long request = answers.getFirst();
            if (request > 0) {
                engines.until(() -> link.there().status(request) != UcsStatus.INPROGRESS, "it is not received");
                link.there().free(request);
            }
            assertTrue(link.there().isOpen());
            link.close();
        }
    }

    @OnEachLane(lanes = Lane.TCP)
    void aLinkOverANetworkStays() throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            EnginePair.Both link = engines.connect();
            link.here().operationFailed(UcsStatus.ERR_NO_MEMORY);
            assertTrue(link.here().isOpen());
            link.close();
        }
    }
}
