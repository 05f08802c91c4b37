// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.github.nettyucx.worker.OrphanWard;
import io.netty.util.ReferenceCounted;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A worker of a {@link LinkLoop}; it notices who uses it after it has been destroyed. */
final class FakeWorker {

    /** The type of such a message, in its tag. */
    private static final int FIN = 3;

    /** How long a worker waits for operations that UCX may never complete. */
    static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(3);

    private record Ending(Runnable report, int after) {
    }

    final FakeUcx ucx;
    final LinkLoop loop;
    final LaneKind lane;
    final long uuid;
    private final Map<Long, Integer> counts = new HashMap<>();
    private final List<FakeEndpoint> endpoints = new ArrayList<>();
    private final Map<Integer, MessageSink> sinks = new HashMap<>();
    /** Messages that have arrived and not been delivered. */
    private final Deque<FakeMessage> inbox = new ArrayDeque<>();
    private final Map<Long, FakeMessage> unreceived = new HashMap<>();
    /** What has been posted and not been freed. */
    private final Set<FakeRequest> open = new LinkedHashSet<>();
    private final List<InFlight> tracked = new ArrayList<>();
    private final OrphanWard orphans;
    private final Deque<FakeEndpoint> failed = new ArrayDeque<>();
    private final Deque<Ending> endings = new ArrayDeque<>();
    private int arrived;
    private int delivered;
    private int freed;
    private int pins;
    private long idleSince;
    private boolean retired;
    private boolean destroyed;

    FakeWorker(FakeUcx ucx, LinkLoop loop, LaneKind lane) {
        this.ucx = ucx;
        this.loop = loop;
        this.lane = lane;
        uuid = ucx.add(this);
        idleSince = loop.now();
        orphans = new OrphanWard(handle -> request(handle).status(true), handle -> free(handle, true), loop::now);
    }

    void assertUsable() {
        if (loop.isReclaimed()) {
            return;
        }
        assertFalse(destroyed, "a worker is used after it was destroyed");
        assertFalse(loop.isDead(), "a dead process does something");
    }

    // ------------------------------------------------------------------------------------------- what a table asks for

    byte[] address() {
        assertUsable();
        return FakeUcx.address(lane, uuid);
    }

    /** The count goes up also if it fails. */
    FakeEndpoint connect(byte[] peerAddress, boolean fails) throws IOException {
        assertUsable();
        FakeWorker peer = ucx.worker(peerAddress);
        assertEquals(lane, peer.lane, "a worker of another lane");
        int count = counts.merge(peer.uuid, 1, Integer::sum);
        if (fails) {
            throw new IOException("Out of memory");
        }
        boolean gone = peer.destroyed || peer.loop.isDead();
        if (gone && lane == LaneKind.SHM) {
            throw new IOException("Shared memory error");
        }
        if (loop.hasOrphansOfLinkTo(peer.loop)) {
            loop.world.see(LinkWorld.Sight.REMADE_WITH_ORPHANS);
        }
        FakeEndpoint endpoint = new FakeEndpoint(this, peer.uuid, count);
        endpoints.add(endpoint);
        ucx.add(endpoint);
        if (gone) {
            ucx.doomed.add(endpoint);
        }
        return endpoint;
    }

    void closed(FakeEndpoint endpoint) {
        assertUsable();
        assertTrue(endpoints.remove(endpoint), "closed twice");
        idleSince = loop.now();
    }

    void pin() {
        assertUsable();
        pins++;
    }

    void unpin() {
        assertUsable();
        assertTrue(pins-- > 0, "unpinned more often than pinned");
        idleSince = loop.now();
    }

    void retire() {
        assertUsable();
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    boolean isDestroyed() {
        return destroyed;
    }

    /** Whether it is there only because somebody who has no endpoint on it has pinned it. */
    boolean isKeptByPin() {
        return pins > 0 && endpoints.isEmpty() && (retired || loop.now() - idleSince >= LinkTable.IDLE_NANOS);
    }

    private boolean isUnused() {
        return endpoints.isEmpty() && pins == 0;
    }

    void afterArrived(Runnable report) {
        assertUsable();
        endings.add(new Ending(report, arrived));
    }

    // ------------------------------------------------------------------------------------------- messages

    void register(int channelId, MessageSink sink) {
        assertUsable();
        assertNull(sinks.put(channelId, sink), "two of one id");
    }

    void unregister(int channelId) {
        assertUsable();
        sinks.remove(channelId);
    }

    void arrives(FakeMessage message) {
        if (!destroyed && !loop.isDead()) {
            inbox.add(message);
            arrived++;
        }
    }

    /** Whether the end of the stream to this channel has arrived and not been delivered. */
    boolean hasEndFor(int channelId) {
        return inbox.stream().anyMatch(message -> message.channelId() == channelId && message.type() == FIN);
    }

    FakeMessage received(long handle) {
        assertUsable();
        FakeMessage message = unreceived.remove(handle);
        assertNotNull(message, "received twice");
        return message;
    }

    /** Nobody wants it. @return a status pointer */
    long discard(FakeMessage message) {
        message.fate = FakeMessage.Fate.DROPPED;
        if (message.torn || message.length > 0 && loop.world.staysInFlight()) {
            return posted(new Discard(message));
        }
        return message.length == 0 ? UcsStatus.OK : UcsStatus.ERR_MESSAGE_TRUNCATED;
    }

    private final class Discard extends FakeRequest {
        private final FakeMessage message;

        Discard(FakeMessage message) {
            super(FakeWorker.this, "the discard of a " + message, null);
            this.message = message;
        }

        @Override
        FakeEndpoint endpoint() {
            return message.sender.counterpart();
        }

        @Override
        boolean isStuck() {
            return message.torn;
        }

        @Override
        boolean advance() {
            return !message.torn && complete(UcsStatus.ERR_MESSAGE_TRUNCATED);
        }
    }

    // ------------------------------------------------------------------------------------------- in flight

    /** @return its handle */
    long posted(FakeRequest request) {
        open.add(request);
        loop.world.trace(() -> request + " is in flight");
        return ucx.add(request);
    }

    FakeRequest request(long handle) {
        assertUsable();
        FakeRequest request = ucx.request(handle);
        assertSame(this, request.worker, "a request of another worker");
        return request;
    }

    void free(long handle, boolean byWorker) {
        FakeRequest request = request(handle);
        request.free(byWorker);
        assertTrue(open.remove(request));
        freed++;
    }

    void track(InFlight operation) {
        assertFalse(tracked.contains(operation), "tracked twice");
        tracked.add(operation);
    }

    void adopt(long handle, ReferenceCounted owner, Runnable whenDone) {
        if (orphans.add(handle, owner, whenDone)) {
            track(orphans);
        }
    }

    boolean hasInFlight(FakeEndpoint endpoint) {
        return open.stream().anyMatch(request -> request.isRunning() && request.endpoint() == endpoint);
    }

    /** Whether something is left of a link to this loop that has been closed. */
    boolean hasOrphansOfLinkTo(LinkLoop other) {
        return open.stream().anyMatch(request -> request.isRunning() && request.isAbandoned()
                && request.endpoint() != null && request.endpoint().isClosed()
                && ucx.worker(request.endpoint().place().other()).loop == other);
    }

    /** @return whether anything has changed */
    private boolean pollInFlight() {
        int freedBefore = freed;
        int trackedBefore = tracked.size();
        for (int i = tracked.size() - 1; i >= 0; i--) {
            if (!tracked.get(i).poll()) {
                InFlight last = tracked.removeLast();
                if (i < tracked.size()) {
                    tracked.set(i, last);
                }
            }
        }
        return freed > freedBefore || tracked.size() < trackedBefore;
    }

    // ------------------------------------------------------------------------------------------- its turn

    void noteFailure(FakeEndpoint endpoint) {
        failed.add(endpoint);
    }

    /** As a worker's turn does it: messages, and then the failures and ends that came after them. */
    boolean turn() {
        int before = delivered;
        for (int i = 1 + ucx.random.nextInt(3); i > 0 && !inbox.isEmpty(); i--) {
            deliver(inbox.remove());
        }
        boolean worked = delivered > before;
        worked |= pollInFlight();
        if (inbox.isEmpty() && !failed.isEmpty()) {
            failed.remove().reportFailure();
            worked = true;
        }
        while (!endings.isEmpty() && endings.peek().after <= delivered) {
            endings.remove().report.run();
            worked = true;
        }
        return worked;
    }

    private void deliver(FakeMessage message) {
        delivered++;
        loop.world.trace(() -> Long.toHexString(uuid) + " takes a " + message);
        MessageSink sink = sinks.get(message.channelId());
        if (sink == null) {
            long request = discard(message);
            if (request > 0) {
                request(request).abandon(null);
                adopt(request, null, null);
            }
        } else {
            long handle = delivered;
            unreceived.put(handle, message);
            sink.onMessage(message.tag, handle, message.length);
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /** Some turns after everything that could be done about its operations. */
    void collect() {
        if (isUnused() && loop.now() - idleSince >= STUCK_NANOS) {
            ucx.settle(this);
            pollInFlight();
        }
        orphans.collect(loop.now());
        if (!retired && orphans.isOlderThan(STUCK_NANOS, loop.now())) {
            retired = true;
        }
    }

    /** @return whether it is gone now */
    boolean destroyIfDisposable() {
        long unused = loop.now() - idleSince;
        boolean disposable = isUnused()
                && (orphans.isEmpty() ? retired || unused >= LinkTable.IDLE_NANOS : unused >= STUCK_NANOS);
        if (disposable) {
            destroy();
        }
        return destroyed;
    }

    /** Whether only that keeps it which UCX never completes. */
    boolean isStuck() {
        return isUnused() && !open.isEmpty() && open.stream().allMatch(FakeRequest::isStuck);
    }

    private void destroy() {
        assertEquals(Map.of(), sinks, "channels of a worker without endpoints");
        assertEquals(Map.of(), unreceived, "messages that are never received");
        for (FakeRequest request : open) {
            assertTrue(request.isStuck() && request.isAbandoned(), () -> request + " outlives its worker");
            request.checkMemory();
            loop.world.see(LinkWorld.Sight.GIVEN_UP);
        }
        loop.world.trace(() -> Long.toHexString(uuid) + " is destroyed");
        ucx.end(this);
        destroyed = true;
        orphans.giveUp();
    }

    /** The kernel takes everything back from a dead process. */
    void reclaim() {
        orphans.giveUp();
    }
}
