// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Requests that nobody waits for: their memory stays as long as UCX may use it, and asking for them costs little. */
class OrphansTest {

    private static final int MANY = 1_000;

    private final Map<Long, Integer> statuses = new HashMap<>();
    private final Counters<WorkerCounter> counters = new Counters<>(WorkerCounter.class);
    private final Orphans orphans = new Orphans(counters) {
        @Override
        int statusOf(long request) {
            asked++;
            Integer status = statuses.get(request);
            assertNotNull(status, "asked for a request that was freed");
            return status;
        }

        @Override
        void free(long request) {
            assertTrue(statuses.remove(request) != UcsStatus.INPROGRESS, "freed while it runs");
        }

        @Override
        long now() {
            return now;
        }
    };
    private long lastRequest;
    private long now = -5_000;
    private int asked;

    private long add(ByteBuf owner, Runnable done) {
        statuses.put(++lastRequest, UcsStatus.INPROGRESS);
        orphans.add(lastRequest, owner, done == null ? null : status -> done.run());
        return lastRequest;
    }

    private void complete(long request) {
        statuses.put(request, UcsStatus.ERR_CANCELED);
    }

    private void pass(long nanos) {
        now += nanos;
        orphans.collect(now);
    }

    private int askedInOneTurn() {
        int before = asked;
        orphans.poll();
        return asked - before;
    }

    @Test
    void memoryStaysUntilTheRequestIsComplete() {
        ByteBuf owner = Unpooled.buffer(1);
        List<String> done = new ArrayList<>();
        long request = add(owner, () -> done.add("done"));
        assertTrue(orphans.poll());
        assertEquals(1, owner.refCnt());
        complete(request);
        assertFalse(orphans.poll());
        assertEquals(0, owner.refCnt());
        assertEquals(List.of("done"), done);
        assertTrue(orphans.isEmpty());
        assertEquals(1, counters.get(WorkerCounter.OPERATIONS_FINISHED));
    }

    @Test
    void thoseThatLastAreNotAskedForInEveryTurn() {
        for (int i = 0; i < MANY; i++) {
            add(null, null);
        }
        assertEquals(MANY, askedInOneTurn());
        pass(Orphans.LASTING_NANOS + 1);
        assertEquals(0, askedInOneTurn());
        assertFalse(orphans.poll());
        add(null, null);
        assertEquals(1, askedInOneTurn());
        assertEquals(MANY + 1, orphans.size());
    }

    @Test
    void thoseThatLastAndCompleteAfterAllAreFound() {
        ByteBuf owner = Unpooled.buffer(1);
        long request = add(owner, null);
        add(null, null);
        pass(Orphans.LASTING_NANOS + 1);
        complete(request);
        orphans.poll();
        assertEquals(1, owner.refCnt());
        pass(1);
        assertEquals(0, owner.refCnt());
        assertEquals(1, orphans.size());
    }

    @Test
    void theyArePolledByOneAtATime() {
        statuses.put(1L, UcsStatus.INPROGRESS);
        statuses.put(2L, UcsStatus.INPROGRESS);
        statuses.put(3L, UcsStatus.INPROGRESS);
        assertTrue(orphans.add(1, null, null));
        assertFalse(orphans.add(2, null, null), "polled twice in each turn");
        pass(Orphans.LASTING_NANOS + 1);
        assertFalse(orphans.add(3, null, null), "the worker polls it still");
        assertTrue(orphans.poll());
        complete(3);
        assertFalse(orphans.poll());
        statuses.put(4L, UcsStatus.INPROGRESS);
        assertTrue(orphans.add(4, null, null));
    }

    @Test
    void theAgeIsThatOfTheOldest() {
        add(null, null);
        now += 100;
        add(null, null);
        assertFalse(orphans.isOlderThan(100, now));
        assertTrue(orphans.isOlderThan(99, now));
        complete(1);
        orphans.poll();
        assertFalse(orphans.isOlderThan(0, now));
    }

    @Test
    void givenUpRequestsAreNotFreed() {
        ByteBuf owner = Unpooled.buffer(1);
        add(owner, () -> {
            throw new AssertionError("it is not done");
        });
        add(null, null);
        pass(Orphans.LASTING_NANOS + 1);
        add(owner.retain(), null);
        orphans.giveUp();
        assertEquals(0, owner.refCnt());
        assertTrue(orphans.isEmpty());
        assertEquals(3, statuses.size());
        assertEquals(3, counters.get(WorkerCounter.OPERATIONS_FINISHED));
    }

    /** Whose memory has been released too often by the application. */
    @Test
    void oneThatCannotBeReleasedDoesNotKeepTheOthers() {
        for (boolean givenUp : new boolean[] {false, true}) {
            ByteBuf first = Unpooled.buffer(1);
            ByteBuf faulty = Unpooled.buffer(1);
            ByteBuf last = Unpooled.buffer(1);
            List<String> done = new ArrayList<>();
            complete(add(first, null));
            complete(add(faulty, () -> done.add("done")));
            complete(add(last, null));
            faulty.release();
            if (givenUp) {
                orphans.giveUp();
            } else {
                assertFalse(orphans.poll());
                assertEquals(List.of("done"), done);
            }
            assertTrue(orphans.isEmpty());
            assertEquals(0, first.refCnt());
            assertEquals(0, last.refCnt());
        }
    }

    @Test
    void eachIsFinishedOnceInWhateverOrder() {
        Random random = new Random(1);
        Map<Long, ByteBuf> owners = new HashMap<>();
        List<Long> running = new ArrayList<>();
        int[] done = new int[1];
        for (int i = 0; i < 20 * MANY; i++) {
            switch (random.nextInt(6)) {
                case 0, 1 -> {
                    ByteBuf owner = Unpooled.buffer(1);
                    long request = add(owner, () -> {
                        done[0]++;
                        assertEquals(0, owner.refCnt());
                    });
                    owners.put(request, owner);
                    running.add(request);
                }
                case 2, 3 -> {
                    if (!running.isEmpty()) {
                        complete(running.remove(random.nextInt(running.size())));
                    }
                }
                case 4 -> orphans.poll();
                default -> pass(random.nextLong(Orphans.LASTING_NANOS / 10));
            }
            assertEquals(statuses.size(), orphans.size());
        }
        orphans.poll();
        orphans.collect(now);
        assertEquals(running.size(), orphans.size());
        assertEquals(lastRequest - running.size(), done[0]);
        running.forEach(request -> assertEquals(1, owners.get(request).refCnt()));
    }
}
