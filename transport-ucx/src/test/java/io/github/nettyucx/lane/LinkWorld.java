// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.FakeNearness;
import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.netty.buffer.ByteBuf;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Some processes with some event loops each, which connect to each other over control sockets and share links, in an
 * order that follows from a seed.
 */
final class LinkWorld {

    /** What a run has come across, so that it can be seen that nothing is left out. */
    enum Sight {
        SERVED, EARLY_MESSAGE, OFFERED_NEW, OFFERED_REUSE, STALE, KEPT_BY_PIN, NO_WORKER, NO_ADDRESS, NO_ENDPOINT,
        TRIED_AGAIN, RETIRED, NOT_TOLD_YET, ENDPOINT_FAILED, KILLED, IDLE_LINK_CLOSED, ORPHANED, IN_FLIGHT_AT_CLOSE,
        FAILED_IN_FLIGHT, REMADE_WITH_ORPHANS, GIVEN_UP, UNREACHED
    }

    private static final String[] LANES = {"shm,socket", "shm,socket", "tcp,socket", "shm", "tcp", "shm,tcp,socket"};
    private static final int[] MILLIS = {1, 10, 100, 400, 1_000, 1_500, 20_000, 30_000};
    private static final int[] IN_FLIGHT_PERCENT = {0, 20, 50, 90};
    private static final int[] RENDEZVOUS_MIN = {1, 100, 1_000, Integer.MAX_VALUE};
    /** In seconds, for all lanes of a connection. */
    private static final int PATIENCE = 20;
    private static final byte OFFER = 1;
    private static final byte HALF = 2;
    private static final int OFFER_KIND = 36;
    private static final int HALF_STATUS = 4;
    private static final int NEW = 1;
    private static final int STALE = 2;

    final Random random;
    final FakeUcx ucx;
    /** That all are on. What a process has shown goes with it. */
    final FakeNearness host = new FakeNearness();
    private final Map<Sight, Integer> seen;
    private final List<LinkLoop> loops = new ArrayList<>();
    private final List<LinkEnd> ends = new ArrayList<>();
    private final LaneSet lanes;
    private final boolean tracing;
    private final boolean failing;
    private final boolean endpointsFail;
    private final boolean killing;
    private final boolean hasty;
    /** How many of a hundred operations do not complete at once. */
    private final int inFlightPercent;
    /** From how many bytes on a message may be a rendezvous. */
    private final int rendezvousMin;
    private int connections;
    private int lostHalves;
    private long now;

    /** @param tracing whether to print everything that happens */
    LinkWorld(long seed, Map<Sight, Integer> seen, boolean tracing) {
        this.tracing = tracing;
        // Seeds that follow each other begin alike.
        random = new Random(seed * 0x9e3779b97f4a7c15L);
        this.seen = seen;
        ucx = new FakeUcx(random);
        now = random.nextLong();
        lanes = LaneSet.parse(LANES[random.nextInt(LANES.length)]);
        failing = oneIn(3);
        endpointsFail = oneIn(3);
        killing = oneIn(4);
        hasty = oneIn(2);
        inFlightPercent = IN_FLIGHT_PERCENT[random.nextInt(IN_FLIGHT_PERCENT.length)];
        rendezvousMin = RENDEZVOUS_MIN[random.nextInt(RENDEZVOUS_MIN.length)];
        connections = 3 + random.nextInt(8);
        for (int processes = killing || oneIn(2) ? 2 : 1; processes > 0; processes--) {
            ProcessIdentity process = new ProcessIdentity(1, 1, 1, 1, random.nextLong());
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                loops.add(new LinkLoop(this, new Party(process, random.nextLong())));
            }
        }
    }

    long now() {
        return now;
    }

    boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    boolean fails() {
        return failing && oneIn(10);
    }

    /** A half may have gone whose other half is still there: an endpoint has failed, or a handshake has ended too early. */
    void halfIsLost() {
        lostHalves++;
    }

    int lostHalves() {
        return lostHalves;
    }

    boolean staysInFlight() {
        return random.nextInt(100) < inFlightPercent;
    }

    boolean goesByRendezvous(long length) {
        return length >= rendezvousMin && random.nextBoolean();
    }

    void see(Sight sight) {
        seen.merge(sight, 1, Integer::sum);
        trace(() -> "seen: " + sight);
    }

    void trace(Supplier<String> event) {
        if (tracing) {
            System.out.println(event.get());
        }
    }

    // ------------------------------------------------------------------------------------------- what happens

    void run() {
        boolean going = true;
        while (going) {
            disturb();
            going = act() || connect();
        }
        // Those whose link nothing crosses learn it by the time.
        for (int i = 0; i < PATIENCE && ends.stream().anyMatch(LinkEnd::hangs); i++) {
            now += TimeUnit.SECONDS.toNanos(1);
            living(LinkLoop::collect);
            actToTheEnd();
        }
        ends.forEach(LinkEnd::assertAnswered);
        ends.forEach(LinkEnd::assertFinishTold);
        close();
    }

    /** Lets one thing happen that can. @return whether there was one */
    private boolean act() {
        int count = ends.size() + loops.size() + 3;
        int start = random.nextInt(count);
        for (int i = start; i < start + count; i++) {
            if (happens(i < count ? i : i - count)) {
                return true;
            }
        }
        return false;
    }

    private boolean happens(int choice) {
        if (choice < ends.size()) {
            return ends.get(choice).take();
        }
        int rest = choice - ends.size();
        if (rest < loops.size()) {
            return loops.get(rest).turn();
        }
        return switch (rest - loops.size()) {
            case 0 -> ucx.messageArrives();
            case 1 -> ucx.failureIsNoticed();
            default -> ucx.operationGoesOn();
        };
    }

    private boolean connect() {
        if (connections == 0) {
            return false;
        }
        connections--;
        List<LinkLoop> alive = loops.stream().filter(loop -> !loop.isDead()).toList();
        if (alive.isEmpty()) {
            return false;
        }
        // Mostly between the same two.
        LinkLoop from = oneIn(4) ? any(alive) : alive.getFirst();
        LinkLoop to = oneIn(4) ? any(alive) : alive.getLast();
        int id = ends.size() + 1;
        LinkEnd client = new LinkEnd(this, from, true, id);
        LinkEnd server = new LinkEnd(this, to, false, id + 1);
        ends.add(client);
        ends.add(server);
        server.start(client, lanes);
        client.start(server, lanes);
        return true;
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private void disturb() {
        if (hasty ? oneIn(6) : oneIn(20)) {
            connect();
        }
        if (oneIn(15)) {
            now += TimeUnit.MILLISECONDS.toNanos(MILLIS[random.nextInt(MILLIS.length)]);
        }
        if (oneIn(10)) {
            collect();
        }
        if (!ends.isEmpty()) {
            disturb(any(ends));
        }
        if (endpointsFail && !ucx.open.isEmpty() && oneIn(40)) {
            see(Sight.ENDPOINT_FAILED);
            any(ucx.open).fail();
        }
        if (killing && oneIn(100)) {
            kill(any(loops).party.process());
        }
    }

    private void collect() {
        LinkLoop loop = any(loops);
        int before = loop.links.size();
        loop.collect();
        if (loop.links.size() < before) {
            see(Sight.IDLE_LINK_CLOSED);
        }
    }

    private void disturb(LinkEnd end) {
        if (end.isUsing()) {
            end.checkUse();
        }
        if (oneIn(4)) {
            end.write();
        }
        if (oneIn(25)) {
            end.finish();
        }
        if (oneIn(end.isConnecting() ? 12 : 40)) {
            end.close(oneIn(2));
        }
        List<FakeWorker> workers = end.loop.workers();
        if (failing && !workers.isEmpty() && !end.loop.isDead() && oneIn(60)) {
            // Another peer has left an operation that does not end.
            any(workers).retire();
        }
    }

    /** Whoever is told something may close whatever its loop has. */
    void applicationRuns(LinkLoop loop) {
        if (oneIn(hasty ? 2 : 20)) {
            LinkEnd end = any(ends);
            if (end.loop == loop) {
                end.close(oneIn(2));
            }
        }
    }

    private void kill(ProcessIdentity process) {
        see(Sight.KILLED);
        // In the middle of messages.
        ends.stream().filter(end -> end.loop.party.process().equals(process)).forEach(LinkEnd::write);
        for (LinkLoop loop : loops) {
            if (loop.party.process().equals(process)) {
                loop.die();
            }
        }
        for (LinkEnd end : ends) {
            if (end.loop.isDead() && !end.isClosed()) {
                end.cut();
            }
        }
        for (FakeEndpoint endpoint : List.copyOf(ucx.open)) {
            endpoint.dieWithProcess();
        }
    }

    // ------------------------------------------------------------------------------------------- what is said

    void said(ByteBuf frame, boolean byClient) {
        byte type = frame.getByte(frame.readerIndex());
        if (type == OFFER && byClient) {
            see(frame.getByte(frame.readerIndex() + OFFER_KIND) == NEW ? Sight.OFFERED_NEW : Sight.OFFERED_REUSE);
        } else if (type == HALF && frame.getByte(frame.readerIndex() + HALF_STATUS) == STALE) {
            see(Sight.STALE);
        }
    }

    /** A message for that channel is sent. */
    void checkSend(FakeEndpoint endpoint, int channelId) {
        ends.get(channelId - 1).other().checkSend(endpoint);
    }

    // ------------------------------------------------------------------------------------------- the end

    private void close() {
        List<LinkEnd> left = new ArrayList<>(ends);
        while (!left.isEmpty()) {
            left.remove(random.nextInt(left.size())).close(oneIn(2));
            for (int i = random.nextInt(3); i > 0 && act(); i--) {
                // Meanwhile the others go on.
            }
        }
        actToTheEnd();
        now += LinkTable.IDLE_NANOS;
        living(LinkLoop::assertLinksGone);
        actToTheEnd();
        now += LinkTable.IDLE_NANOS;
        living(LinkLoop::collect);
        // The last of their endpoints have gone by now.
        now += LinkTable.IDLE_NANOS;
        living(LinkLoop::collect);
        living(LinkLoop::assertOnlyStuckWorkers);
        now += FakeWorker.STUCK_NANOS + 1;
        living(LinkLoop::assertWorkersGone);
        loops.stream().filter(LinkLoop::isDead).forEach(LinkLoop::reclaim);
        ends.stream().filter(end -> end.loop.isDead()).forEach(LinkEnd::reclaim);
        loops.forEach(loop -> loop.memory.close());
        assertEquals(0, ScriptedLinks.PIPES.inUse(), "pipes are not given back");
        if (loops.stream().noneMatch(LinkLoop::isDead)) {
            host.assertAtRest();
        }
    }

    private void actToTheEnd() {
        while (act()) {
            // Until nothing is left.
        }
    }

    private void living(Consumer<LinkLoop> check) {
        loops.stream().filter(loop -> !loop.isDead()).forEach(check);
    }
}
