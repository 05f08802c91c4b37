// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.LinkReach;
import io.github.nettyucx.lane.ScriptedLinks.Asking;
import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static io.github.nettyucx.handshake.LaneKind.SHM;
import static io.github.nettyucx.handshake.LaneKind.TCP;
import static io.github.nettyucx.lane.ScriptedLinks.ADDRESS;
import static io.github.nettyucx.lane.ScriptedLinks.PEER;
import static io.github.nettyucx.lane.ScriptedLinks.endpoint;
import static io.github.nettyucx.lane.ScriptedLinks.worker;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A link over a network is used when something has crossed it, and what waits for that has its limits. */
class CrossingTest {

    private static final long THEIRS = 1L << 40;
    private static final long LIMIT = TimeUnit.SECONDS.toNanos(3);

    private final ScriptedLinks loop = new ScriptedLinks();
    private final LinkTable table = loop.table;

    private static final class Reaching implements LinkReach {
        private boolean reached;
        private String reason;
        private boolean alone;

        @Override
        public boolean isTooLong(long nanos) {
            return nanos >= LIMIT;
        }

        @Override
        public boolean hasOther() {
            return !alone;
        }

        @Override
        public void reached() {
            assertFalse(reached || reason != null);
            reached = true;
        }

        @Override
        public void unreachable(String why) {
            assertFalse(reached || reason != null);
            reason = why;
        }
    }

    private final Reaching reaching = new Reaching();

    private LinkHalf reach(Asking asking) throws LinkException {
        LinkHalf half = table.complete(asking.offered, THEIRS, ADDRESS);
        table.reach(half, reaching);
        return half;
    }

    @Test
    void sharedMemoryIsReachedAtOnce() throws Exception {
        reach(loop.ask(SHM));
        assertTrue(reaching.reached);
        assertFalse(table.hasDue());
    }

    @Test
    void aLinkIsThereWhenSomethingHasCrossedIt() throws Exception {
        Asking second = new Asking();
        LinkHalf half = reach(loop.ask(TCP));
        table.request(TCP, PEER, second);
        loop.idle(LIMIT - 1);
        loop.runReady();
        assertTrue(table.hasDue());
        assertFalse(reaching.reached || second.isAnswered());
        assertNull(table.match(TCP, PEER, THEIRS), "it is not known to lead anywhere");
        endpoint(half).flushed(UcsStatus.OK);
        assertFalse(reaching.reached, "told within the worker's turn");
        loop.runReady();
        assertTrue(reaching.reached && endpoint(half).freed);
        assertSame(half, second.reused);
        assertSame(half, table.match(TCP, PEER, THEIRS));
        assertFalse(table.hasDue());
    }

    @Test
    void aLinkThatNothingCrossesIsOfNoUse() throws Exception {
        LinkHalf half = reach(loop.ask(TCP));
        loop.idle(LIMIT);
        loop.runReady();
        assertNull(reaching.reason, "a loop that was stopped looks first");
        loop.idle(Crossing.LAST_LOOK_NANOS);
        loop.runReady();
        assertEquals("nothing has crossed the link within 3000 ms", reaching.reason);
        assertTrue(endpoint(half).abandoned);
        half.release();
        assertEquals(1, endpoint(half).closes);
        assertEquals(0, worker(half).pins);
        assertFalse(worker(half).retired, "others use it");
        assertEquals(reaching.reason, loop.ask(TCP).reason);
        assertEquals(0, table.size());
        loop.idle(LinkFailures.RETRY_NANOS);
        assertTrue(loop.ask(TCP).offered != null);
    }

    @Test
    void whatHasCrossedMeanwhileCountsThoughItIsLate() throws Exception {
        LinkHalf half = reach(loop.ask(TCP));
        loop.idle(10 * LIMIT);
        endpoint(half).flushed(UcsStatus.OK);
        loop.runReady();
        assertTrue(reaching.reached);
    }

    @Test
    void aLinkThatFailsFirstIsOfNoUse() throws Exception {
        LinkHalf half = reach(loop.ask(TCP));
        endpoint(half).failure = UcsStatus.ERR_ENDPOINT_TIMEOUT;
        endpoint(half).flushed(UcsStatus.ERR_ENDPOINT_TIMEOUT);
        loop.idle(1);
        loop.runReady();
        assertNull(reaching.reason, "the control socket may tell of the peer's end");
        loop.idle(Crossing.LAST_LOOK_NANOS);
        loop.runReady();
        assertEquals("the link has failed before anything had crossed it: ENDPOINT_TIMEOUT", reaching.reason);
        half.release();
        assertEquals(1, endpoint(half).closes);
        assertEquals(reaching.reason, loop.ask(TCP).reason);
    }

    @Test
    void whoGivesUpLateLeavesANote() throws Exception {
        LinkHalf half = reach(loop.ask(TCP));
        loop.now += Crossing.LAST_LOOK_NANOS;
        half.release();
        assertEquals("nothing has crossed the link within 200 ms", loop.ask(TCP).reason);
        assertTrue(loop.ask(SHM).offered != null, "of that lane");
    }

    /** It would fail at once for as long as the note is there. */
    @Test
    void whoHasNoOtherLaneLeavesNone() throws Exception {
        reaching.alone = true;
        LinkHalf half = reach(loop.ask(TCP));
        loop.now += Crossing.LAST_LOOK_NANOS;
        half.release();
        half = reach(loop.ask(TCP));
        loop.idle(LIMIT);
        loop.idle(Crossing.LAST_LOOK_NANOS);
        loop.runReady();
        assertEquals("nothing has crossed the link within 3000 ms", reaching.reason);
        half.release();
        assertTrue(loop.ask(TCP).offered != null);
    }

    @Test
    void nothingIsLeftOfAPeerWhenALinkAndAWaitEndAtTheSameTime() throws Exception {
        Asking second = new Asking();
        LinkHalf half = reach(loop.ask(TCP));
        second.patience = LIMIT + Crossing.LAST_LOOK_NANOS;
        table.request(TCP, PEER, second);
        loop.idle(LIMIT);
        loop.idle(Crossing.LAST_LOOK_NANOS);
        // The verdict first, and what follows from it.
        loop.ready.remove().run();
        half.release();
        loop.runReady();
        assertTrue(second.isAnswered());
        assertEquals(0, table.peers());
    }

    @Test
    void whoGivesUpMeanwhileLeavesNothing() throws Exception {
        LinkHalf half = reach(loop.ask(TCP));
        Asking second = loop.ask(TCP);
        half.release();
        assertTrue(endpoint(half).abandoned);
        assertEquals(1, endpoint(half).closes);
        assertEquals(0, worker(half).pins);
        loop.runReady();
        assertTrue(second.offered != null, "the next one tries");
        assertFalse(table.hasDue());
        loop.idle(10 * LIMIT);
        loop.runReady();
        assertFalse(reaching.reached || reaching.reason != null);
    }

    @Test
    void aLinkThatNothingHasCrossedGoesWithTheLoop() throws Exception {
        LinkHalf half = reach(loop.ask(TCP));
        table.close();
        loop.runReady();
        half.release();
        assertEquals(1, endpoint(half).closes);
        assertEquals(0, worker(half).pins);
        assertFalse(reaching.reached || reaching.reason != null);
    }

    @Test
    void whoCanDoWithoutDoesNotWaitForAHandshakeThatStalls() {
        Asking maker = loop.ask(TCP);
        Asking second = new Asking();
        second.patience = LIMIT;
        table.request(TCP, PEER, second);
        Asking third = loop.ask(TCP);
        loop.idle(LIMIT - 1);
        loop.runReady();
        assertTrue(table.hasDue());
        assertFalse(second.isAnswered());
        loop.idle(1);
        assertFalse(second.isAnswered(), "answered within a collection");
        loop.runReady();
        assertEquals("another connection has not got on with making the link", second.reason);
        loop.idle(LIMIT);
        loop.runReady();
        assertFalse(third.isAnswered(), "it has nothing else to take");
        table.abandon(maker.offered, true);
        loop.runReady();
        assertTrue(third.offered != null);
        assertFalse(table.hasDue());
    }
}
