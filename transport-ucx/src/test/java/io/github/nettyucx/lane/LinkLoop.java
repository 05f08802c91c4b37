// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.LinkPort;
import io.github.nettyucx.worker.WorkerPort;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An event loop of a {@link LinkWorld}: its links, and the workers as an engine keeps them. */
final class LinkLoop implements LinkFactory {

    private record WorkerKey(LaneKind lane, boolean serving, ProcessIdentity process) {
    }

    private record FailureKey(LaneKind lane, ProcessIdentity process) {
    }

    final LinkWorld world;
    final Party party;
    final LinkTable links;
    final LoopMemory memory = new LoopMemory();
    private final Deque<Runnable> ready = new ArrayDeque<>();
    private final Map<WorkerKey, FakeWorker> current = new HashMap<>();
    private final List<FakeWorker> workers = new ArrayList<>();
    private final Map<FailureKey, Long> failures = new HashMap<>();
    private boolean dead;
    private boolean reclaimed;

    LinkLoop(LinkWorld world, Party party) {
        this.world = world;
        this.party = party;
        links = new LinkTable(this, this::later, world.random::nextLong, world::now);
    }

    long now() {
        return world.now();
    }

    void later(Runnable work) {
        ready.add(work);
    }

    /** With its whole process. */
    void die() {
        dead = true;
        ready.clear();
        workers.forEach(world.ucx::end);
    }

    /** Whether the process is dead, and what follows is only the kernel's taking back of its memory. */
    boolean isReclaimed() {
        return reclaimed;
    }

    void reclaim() {
        reclaimed = true;
        workers.forEach(FakeWorker::reclaim);
    }

    boolean isDead() {
        return dead;
    }

    List<FakeWorker> workers() {
        return workers;
    }

    // ------------------------------------------------------------------------------------------- the factory

    @Override
    public boolean hasWorker(LaneKind lane, boolean serving, ProcessIdentity peer) {
        FakeWorker worker = current.get(new WorkerKey(lane, serving, lane == LaneKind.SHM ? peer : null));
        return worker != null && !worker.isRetired();
    }

    @Override
    public WorkerPort worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException {
        FailureKey failureKey = new FailureKey(lane, peer);
        Long failure = failures.remove(failureKey);
        if (failure != null) {
            assertTrue(now() - failure >= LinkFailures.RETRY_NANOS, "tried again too soon after a failure");
            world.see(LinkWorld.Sight.TRIED_AGAIN);
        }
        if (world.fails()) {
            world.see(LinkWorld.Sight.NO_WORKER);
            throw new LinkException("no more workers");
        }
        WorkerKey key = new WorkerKey(lane, serving, lane == LaneKind.SHM ? peer : null);
        FakeWorker worker = current.get(key);
        if (worker == null || worker.isRetired()) {
            worker = new FakeWorker(world.ucx, this, lane);
            workers.add(worker);
            current.put(key, worker);
        }
        return new Side(worker, failureKey);
    }

    private final class Side implements WorkerPort {
        private final FakeWorker worker;
        private final FailureKey key;

        Side(FakeWorker worker, FailureKey key) {
            this.worker = worker;
            this.key = key;
        }

        @Override
        public void pin() {
            worker.pin();
        }

        @Override
        public void unpin() {
            worker.unpin();
        }

        @Override
        public byte[] address() throws IOException {
            if (world.fails()) {
                failures.put(key, now());
                world.see(LinkWorld.Sight.NO_ADDRESS);
                throw new IOException("no address");
            }
            return worker.address();
        }

        @Override
        public LinkPort connect(byte[] peerAddress) throws IOException {
            if (worker.isKeptByPin()) {
                world.see(LinkWorld.Sight.KEPT_BY_PIN);
            }
            try {
                return worker.connect(peerAddress, world.fails());
            } catch (IOException e) {
                failures.put(key, now());
                world.see(LinkWorld.Sight.NO_ENDPOINT);
                throw e;
            }
        }

        @Override
        public void retire() {
            world.see(LinkWorld.Sight.RETIRED);
            world.halfIsLost();
            worker.retire();
        }

        @Override
        public boolean isRetired() {
            return worker.isRetired();
        }

        @Override
        public void afterArrived(Runnable report) {
            worker.afterArrived(report);
        }
    }

    boolean hasOrphansOfLinkTo(LinkLoop other) {
        return workers.stream().anyMatch(worker -> worker.hasOrphansOfLinkTo(other));
    }

    // ------------------------------------------------------------------------------------------- its turn

    /** @return whether there was anything to do */
    boolean turn() {
        if (dead) {
            return false;
        }
        boolean worked = false;
        for (FakeWorker worker : List.copyOf(workers)) {
            worked |= !dead && worker.turn();
        }
        for (int n = ready.size(); n > 0 && !ready.isEmpty(); n--) {
            ready.remove().run();
            worked = true;
        }
        return worked;
    }

    /** As an engine does it now and then. */
    void collect() {
        if (!dead) {
            links.collect(now());
            workers.forEach(FakeWorker::collect);
            workers.removeIf(FakeWorker::destroyIfDisposable);
            current.values().removeIf(FakeWorker::isDestroyed);
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /** Nobody has used a link for {@link LinkTable#IDLE_NANOS}. */
    void assertLinksGone() {
        links.collect(now());
        assertEquals(0, links.size(), "links that nobody uses");
        assertFalse(links.hasIdle());
    }

    /** The same time later. */
    void assertOnlyStuckWorkers() {
        assertTrue(workers.stream().allMatch(FakeWorker::isStuck), "workers that nobody uses");
    }

    /** And so long after that, that what UCX will never complete is given up. */
    void assertWorkersGone() {
        collect();
        assertEquals(List.of(), workers, "workers that nobody uses");
    }
}
