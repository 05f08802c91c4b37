// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.lane.ScriptedLinks.Asking;
import io.github.nettyucx.lane.ScriptedLinks.Worker;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static io.github.nettyucx.handshake.LaneKind.RDMA;
import static io.github.nettyucx.handshake.LaneKind.SHM;
import static io.github.nettyucx.handshake.LaneKind.TCP;
import static io.github.nettyucx.lane.ScriptedLinks.ADDRESS;
import static io.github.nettyucx.lane.ScriptedLinks.PEER;
import static io.github.nettyucx.lane.ScriptedLinks.endpoint;
import static io.github.nettyucx.lane.ScriptedLinks.party;
import static io.github.nettyucx.lane.ScriptedLinks.worker;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Which links there are, who may use them, and when they go. */
class LinkTableTest {

    private static final long THEIRS = 1L << 40;

    private final ScriptedLinks loop = new ScriptedLinks();
    private final LinkTable table = loop.table;

    private Asking ask() {
        return loop.ask(SHM);
    }

    // ------------------------------------------------------------------------------------------- who uses which

    @Test
    void theNextConnectionUsesTheLinkThatIsThere() throws Exception {
        LinkHalf half = loop.connected(PEER, THEIRS);
        Asking next = ask();
        assertSame(half, next.reused);
        assertEquals(THEIRS, next.theirs);
        assertSame(half, table.match(SHM, PEER, THEIRS));
        assertEquals(1, table.size());
    }

    @Test
    void aLinkIsOfOnePeerOneLaneAndOneRole() throws Exception {
        loop.connected(PEER, THEIRS).release();
        assertNull(table.match(SHM, PEER, THEIRS + 1));
        assertNull(table.match(SHM, party(8), THEIRS));
        assertNull(table.match(RDMA, PEER, THEIRS));
        assertNull(table.held(SHM, PEER));
        LinkHalf served = loop.served(PEER, THEIRS);
        assertSame(served, table.held(SHM, PEER));
        assertNull(table.held(SHM, party(8)));
        assertNull(table.held(RDMA, PEER));
        assertNull(table.held(SHM, PEER, served.number(), THEIRS + 1));
        assertNull(table.held(SHM, PEER, served.number() + 1, THEIRS));
        assertSame(served, table.held(SHM, PEER, served.number(), THEIRS));
    }

    @Test
    void aLinkThatIsNotConfirmedIsForThoseWhoKnowBothNumbers() throws Exception {
        LinkHalf half = table.accept(SHM, PEER, THEIRS, ADDRESS);
        assertNull(table.held(SHM, PEER));
        LinkHalf found = table.held(SHM, PEER, half.number(), THEIRS);
        assertSame(half, found);
        assertSame(half, table.held(SHM, PEER), "who knows both has made the other half");
    }

    @Test
    void aLinkThatHasFailedIsForNobody() throws Exception {
        LinkHalf connected = loop.connected(PEER, THEIRS);
        LinkHalf served = loop.served(PEER, THEIRS);
        endpoint(connected).fail(-80);
        endpoint(served).fail(-80);
        assertNull(table.match(SHM, PEER, THEIRS));
        assertNull(table.held(SHM, PEER));
        assertNull(table.held(SHM, PEER, served.number(), THEIRS));
        assertNotSame(connected, ask().offered);
    }

    @Test
    void aLinkThatTheServerDoesNotHaveIsForNobodyAndStaysForItsUsers() throws Exception {
        LinkHalf half = loop.connected(PEER, THEIRS);
        LinkHalf again = ask().reused;
        table.stale(again);
        assertNull(table.match(SHM, PEER, THEIRS));
        Asking next = ask();
        assertNotSame(half, next.offered);
        assertEquals(0, endpoint(half).closes);
        half.release();
        assertEquals(1, endpoint(half).closes);
    }

    @Test
    void aClientThatMakesANewLinkDoesNotHaveTheOldOne() throws Exception {
        LinkHalf used = loop.served(PEER, THEIRS);
        LinkHalf idle = loop.served(party(8), THEIRS);
        idle.release();
        table.accept(SHM, PEER, THEIRS + 1, ADDRESS);
        table.accept(SHM, party(8), THEIRS + 1, ADDRESS);
        assertNull(table.held(SHM, PEER, used.number(), THEIRS));
        assertEquals(0, endpoint(used).closes, "somebody uses it");
        assertEquals(1, endpoint(idle).closes);
    }

    // ------------------------------------------------------------------------------------------- counting

    @Test
    void aHalfWithoutTheOtherEndsTheUseOfItsWorker() throws Exception {
        LinkHalf half = table.accept(SHM, PEER, THEIRS, ADDRESS);
        half.release();
        assertEquals(1, endpoint(half).closes);
        assertTrue(worker(half).retired);
        LinkHalf next = table.accept(SHM, PEER, THEIRS, ADDRESS);
        assertNotSame(worker(half), worker(next));
    }

    @Test
    void aClientThatBeginsAnewHasGivenUpWhatHeDidNotConfirm() throws Exception {
        LinkHalf half = table.accept(SHM, PEER, THEIRS, ADDRESS);
        // His control socket's end has not been noticed.
        LinkHalf next = table.accept(SHM, PEER, THEIRS + 1, ADDRESS);
        assertNotSame(worker(half), worker(next), "counted differently from now on");
        half.release();
        next.release();
    }

    @Test
    void aWorkerThatIsRetiredHasNoNewUsers() throws Exception {
        LinkHalf connected = loop.connected(PEER, THEIRS);
        LinkHalf served = loop.served(PEER, THEIRS);
        worker(connected).retire();
        assertNull(table.match(SHM, PEER, THEIRS));
        assertNull(table.held(SHM, PEER));
        assertNull(table.held(SHM, PEER, served.number(), THEIRS), "would keep the worker for ever");
        Asking next = ask();
        assertNotSame(worker(connected), worker(next.offered));
        connected.release();
        served.release();
        assertEquals(1, endpoint(connected).closes);
        assertEquals(1, endpoint(served).closes);
        assertEquals(0, loop.workers.getFirst().pins);
    }

    @Test
    void aWorkerWhoseAddressIsToldStaysUntilTheAnswerHasCome() throws Exception {
        Asking first = ask();
        Worker worker = worker(first.offered);
        assertEquals(1, worker.pins);
        loop.idle(10 * LinkTable.IDLE_NANOS);
        assertEquals(1, worker.pins);
        table.abandon(first.offered, true);
        assertEquals(0, worker.pins);

        loop.noEndpoint = new IOException("no memory");
        Asking second = ask();
        assertThrows(LinkException.class, () -> table.complete(second.offered, THEIRS, ADDRESS));
        assertEquals(0, worker.pins);
    }

    // ------------------------------------------------------------------------------------------- one makes it for all

    @Test
    void othersWaitWhileOneMakesALink() throws Exception {
        Asking maker = ask();
        Asking second = ask();
        Asking third = ask();
        assertFalse(second.isAnswered() || third.isAnswered());
        LinkHalf half = table.complete(maker.offered, THEIRS, ADDRESS);
        assertFalse(second.isAnswered(), "answered within another's call");
        loop.runReady();
        assertSame(half, second.reused);
        assertSame(half, third.reused);
    }

    @Test
    void theNextOneMakesItIfTheFirstHasGivenUp() {
        Asking first = ask();
        Asking second = ask();
        Asking third = ask();
        table.abandon(first.offered, true);
        loop.runReady();
        assertNotSame(first.offered, second.offered);
        assertFalse(third.isAnswered());
        table.withdraw(third);
        table.abandon(second.offered, true);
        loop.runReady();
        assertFalse(third.isAnswered(), "it has been withdrawn");
        assertEquals(0, loop.workers.getFirst().pins);
    }

    @Test
    void thoseWhoWaitLearnTheFailure() {
        Asking first = ask();
        Asking second = ask();
        Asking third = ask();
        loop.noEndpoint = new IOException("no memory");
        assertThrows(LinkException.class, () -> table.complete(first.offered, THEIRS, ADDRESS));
        loop.runReady();
        assertEquals("no memory", second.reason);
        assertEquals("no memory", third.reason);
    }

    @Test
    void whoComesMeanwhileStandsAtTheEndOfTheRow() {
        Asking first = ask();
        Asking second = ask();
        table.abandon(first.offered, true);
        Asking late = ask();
        assertFalse(late.isAnswered());
        loop.runReady();
        assertTrue(second.offered != null && !late.isAnswered());
    }

    // ------------------------------------------------------------------------------------------- failures

    @Test
    void aFailureIsRememberedForAWhile() {
        loop.noEndpoint = new IOException("no memory");
        Asking first = ask();
        assertThrows(LinkException.class, () -> table.complete(first.offered, THEIRS, ADDRESS));
        assertTrue(loop.workers.getFirst().retired);
        loop.noEndpoint = null;
        loop.idle(LinkFailures.RETRY_NANOS - 1);
        assertEquals("no memory", ask().reason);
        assertThrows(LinkException.class, () -> table.accept(SHM, PEER, THEIRS, ADDRESS));
        assertEquals(1, loop.workers.size());
        Asking other = new Asking();
        table.request(SHM, party(8), other);
        assertTrue(other.offered != null, "another process");
        loop.idle(1);
        assertTrue(ask().offered != null);
    }

    @Test
    void noAddressIsAFailureAsWell() {
        loop.noAddress = new IOException("no address");
        assertEquals("no address", ask().reason);
        assertThrows(LinkException.class, () -> table.accept(SHM, party(8), THEIRS, ADDRESS));
        loop.noAddress = null;
        assertEquals("no address", ask().reason);
        assertThrows(LinkException.class, () -> table.accept(SHM, party(8), THEIRS, ADDRESS));
        assertTrue(loop.workers.stream().allMatch(worker -> worker.pins == 0));
    }

    @Test
    void tooManyWorkersIsNotTheFaultOfAPeer() throws Exception {
        loop.noWorker = new LinkException("too many workers");
        assertEquals("too many workers", ask().reason);
        assertThrows(LinkException.class, () -> table.accept(SHM, PEER, THEIRS, ADDRESS));
        loop.noWorker = null;
        assertTrue(ask().offered != null);
        table.accept(SHM, PEER, THEIRS, ADDRESS);
    }

    @Test
    void anAddressOfAnotherKindIsNotForUcx() {
        Asking asking = ask();
        assertThrows(LinkException.class, () -> table.complete(asking.offered, THEIRS, new byte[] {9, 2, 3}));
        assertThrows(LinkException.class, () -> table.accept(SHM, party(8), THEIRS, new byte[0]));
        assertTrue(loop.workers.stream().allMatch(worker -> worker.endpoints.isEmpty() && worker.pins == 0));
    }

    @Test
    void aWorkerThatCannotBeMadeIsNotTriedAtEachConnection() {
        loop.noNewWorker = new IOException("no descriptors");
        assertEquals("no worker could be made: no descriptors", ask().reason);
        Asking other = new Asking();
        table.request(SHM, party(8), other);
        assertEquals("no worker could be made: no descriptors", other.reason);
        assertEquals(1, loop.asked);
        assertThrows(LinkException.class, () -> table.accept(SHM, PEER, THEIRS, ADDRESS));
        assertThrows(LinkException.class, () -> table.accept(SHM, party(8), THEIRS, ADDRESS));
        assertEquals(2, loop.asked, "the other role has a worker of its own");
        loop.noNewWorker = null;
        loop.idle(LinkFailures.WORKER_RETRY_NANOS);
        assertTrue(ask().offered != null);
    }

    @Test
    void anAddressOfAnotherKindIsItsSendersMatterOnly() throws Exception {
        LinkHalf good = table.accept(TCP, PEER, THEIRS, ADDRESS);
        table.confirm(good);
        int asked = loop.asked;
        assertThrows(LinkException.class, () -> table.accept(TCP, party(8), THEIRS, new byte[] {9, 2, 3}));
        assertEquals(asked, loop.asked, "no worker is made for that");
        assertFalse(worker(good).retired);
        assertSame(good, table.held(TCP, PEER));
        assertTrue(table.accept(TCP, party(8), THEIRS, ADDRESS) != null, "whoever it was that said to be that process");
    }

    @Test
    void theFirstAddressOfALaneIsComparedAsWell() {
        assertThrows(LinkException.class, () -> table.accept(TCP, PEER, THEIRS, new byte[] {9, 2, 3}));
        assertFalse(loop.workers.getFirst().retired);
        assertEquals(0, loop.workers.getFirst().pins);
        assertTrue(loop.workers.getFirst().endpoints.isEmpty());
    }

    @Test
    void aHalfThatTheServerMayLookForEndsTheUseOfASharedWorker() {
        for (LaneKind lane : List.of(TCP, SHM)) {
            Asking first = loop.ask(lane);
            table.abandon(first.offered, false);
            Asking second = loop.ask(lane);
            assertSame(worker(first.offered), worker(second.offered), "nobody has been told of it");
            table.abandon(second.offered, true);
            Asking third = loop.ask(lane);
            assertEquals(lane == SHM, worker(second.offered) == worker(third.offered));
            table.abandon(third.offered, false);
        }
    }

    /** As one does whose client has found that nothing crosses. */
    @Test
    void aHalfThatIsNotConfirmedEndsNoWorkerThatServesOthers() throws Exception {
        LinkHalf good = table.accept(TCP, PEER, THEIRS, ADDRESS);
        table.confirm(good);
        table.accept(TCP, party(8), THEIRS, ADDRESS).release();
        assertFalse(worker(good).retired);
        assertSame(good, table.held(TCP, PEER));
        table.accept(TCP, party(8), THEIRS, ADDRESS);
        // It begins again before the end of the first attempt is known.
        table.accept(TCP, party(8), THEIRS + 1, ADDRESS);
        assertFalse(worker(good).retired);
        assertSame(good, table.held(TCP, PEER));
        LinkHalf alone = table.accept(SHM, party(9), THEIRS, ADDRESS);
        alone.release();
        assertTrue(worker(alone).retired, "over shared memory it serves nobody else");
    }

    @Test
    void whoeverHasAWorkerNeedsNone() throws Exception {
        loop.noNewWorker = new IOException("no shared memory");
        loop.known.add(PEER.process());
        Asking other = new Asking();
        table.request(SHM, party(8), other);
        assertEquals("no worker could be made: no shared memory", other.reason);
        assertTrue(ask().offered != null);
        assertThrows(LinkException.class, () -> table.accept(SHM, party(8), THEIRS, ADDRESS));
        assertNotNull(table.accept(SHM, PEER, THEIRS, ADDRESS));
    }

    // ------------------------------------------------------------------------------------------- the end

    @Test
    void aLinkWaitsForItsNextUserForAWhile() throws Exception {
        LinkHalf half = loop.connected(PEER, THEIRS);
        loop.idle(10 * LinkTable.IDLE_NANOS);
        assertFalse(table.hasIdle());
        half.release();
        assertTrue(table.hasIdle());
        loop.idle(LinkTable.IDLE_NANOS - 1);
        assertEquals(0, endpoint(half).closes);
        LinkHalf again = table.match(SHM, PEER, THEIRS);
        loop.idle(LinkTable.IDLE_NANOS);
        assertEquals(0, endpoint(half).closes, "it is in use");
        again.release();
        loop.idle(LinkTable.IDLE_NANOS);
        assertEquals(1, endpoint(half).closes);
        assertEquals(0, worker(half).pins);
        assertEquals(0, table.size());
        assertFalse(table.hasIdle());
    }

    @Test
    void anIdleLinkThatHasFailedGoesAtOnce() throws Exception {
        LinkHalf half = loop.connected(PEER, THEIRS);
        half.release();
        endpoint(half).fail(-80);
        loop.idle(1);
        assertEquals(1, endpoint(half).closes);
    }

    @Test
    void aPinIsGivenBackOnce() throws Exception {
        LinkHalf half = loop.connected(PEER, THEIRS);
        half.release();
        assertThrows(IllegalStateException.class, half::release);
    }

    @Test
    void allLinksGoWithTheLoop() throws Exception {
        List<LinkHalf> halves = new ArrayList<>();
        halves.add(loop.connected(PEER, THEIRS));
        halves.add(loop.served(PEER, THEIRS));
        halves.add(loop.connected(party(8), THEIRS));
        halves.getLast().release();
        table.close();
        halves.forEach(half -> assertEquals(1, endpoint(half).closes));
        halves.getFirst().release();
        assertEquals(1, endpoint(halves.getFirst()).closes);
        assertEquals(0, loop.workers.getFirst().pins);
        assertEquals(0, table.size());
    }

    // ------------------------------------------------------------------------------------------- a serving handshake

    @Test
    void aClientGoesOnWithWhatWasNamedToItAlsoIfTheWorkerWasRetiredMeanwhile() throws Exception {
        OwnHalf half = loop.served(PEER, THEIRS);
        ServingLinks serving = new ServingLinks(table, this::lane);
        LinkHalf named = serving.held(SHM, PEER);
        assertSame(half, named);
        worker(half).retire();
        assertNull(serving.held(SHM, PEER, half.number(), THEIRS + 1));
        LinkHalf chosen = serving.held(SHM, PEER, half.number(), THEIRS);
        assertSame(half, chosen);
        chosen.release();
        named.release();
        serving.close();
        half.release();
        assertEquals(1, endpoint(half).closes);
    }

    /** By an offer of the same client that has come late, for example. */
    @Test
    void soItDoesIfItIsThoughtToHaveGivenThatUpMeanwhile() throws Exception {
        OwnHalf half = loop.served(PEER, THEIRS);
        ServingLinks serving = new ServingLinks(table, this::lane);
        LinkHalf named = serving.held(SHM, PEER);
        LinkHalf another = table.accept(SHM, PEER, THEIRS + 1, ADDRESS);
        assertNotSame(half, another);
        LinkHalf chosen = serving.held(SHM, PEER, half.number(), THEIRS);
        assertSame(half, chosen);
        chosen.release();
        named.release();
        serving.close();
        half.release();
        assertEquals(1, endpoint(half).closes);
        another.release();
    }

    @Test
    void aLinkThatWasNamedIsNotTakenForOneOfAnotherLane() throws Exception {
        OwnHalf half = loop.served(PEER, THEIRS);
        ServingLinks serving = new ServingLinks(table, this::lane);
        LinkHalf named = serving.held(SHM, PEER);
        assertNull(serving.held(LaneKind.TCP, PEER, half.number(), THEIRS));
        named.release();
        serving.close();
        half.release();
    }

    @Test
    void aLaneThatCannotBeMadeKeepsNoPin() {
        ServingLinks serving = new ServingLinks(table, (kind, half, limits) -> {
            throw new IllegalStateException("no memory");
        });
        assertThrows(IllegalStateException.class, () -> serving.accept(SHM, PEER, THEIRS, ADDRESS));
        assertEquals(1, loop.workers.getFirst().endpoints.getFirst().closes);
        assertEquals(0, loop.workers.getFirst().pins);
        serving.close();
    }

    /** Its worker would count for ever, and keep the loop from ending. */
    @Test
    void aLinkThatThereIsNoMemoryForKeepsNoPin() {
        Asking asking = ask();
        loop.noMemory = true;
        assertThrows(OutOfMemoryError.class, () -> table.accept(SHM, PEER, THEIRS, ADDRESS));
        assertThrows(OutOfMemoryError.class, () -> table.complete(asking.offered, THEIRS, ADDRESS));
        for (Worker each : loop.workers) {
            assertEquals(0, each.pins);
            assertTrue(each.retired);
        }
    }

    private LinkLane lane(LaneKind kind, OwnHalf half, ConnectionLimits limits) {
        return new LinkLane(kind, half, new ScriptedControl(), new ConnectionLimits(5, 1 << 16, 1 << 12),
                ScriptedLinks.SEND_BUFFERS, ScriptedLinks.PIPES, Unpooled::directBuffer, Traffic.ofConnection());
    }
}
