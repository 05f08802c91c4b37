// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.worker.MessageSink;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A worker of a {@link LinkLoop}; it notices who uses it after it has been destroyed. */
final class FakeWorker {

    /** The type of such a message, in its tag. */
    private static final int FIN = 3;

    private record Ending(Runnable report, int after) {
    }

    final FakeUcx ucx;
    final LinkLoop loop;
    final LaneKind lane;
    final long uuid;
    private final Map<Long, Integer> counts = new HashMap<>();
    private final List<FakeEndpoint> endpoints = new ArrayList<>();
    private final Map<Integer, MessageSink> sinks = new HashMap<>();
    /** Tags of the messages that have arrived and not been delivered. */
    private final Deque<Long> inbox = new ArrayDeque<>();
    private final Set<Long> unreceived = new HashSet<>();
    private final Deque<FakeEndpoint> failed = new ArrayDeque<>();
    private final Deque<Ending> endings = new ArrayDeque<>();
    private int arrived;
    private int delivered;
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
    }

    void assertUsable() {
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
        return pins > 0 && isUnused();
    }

    private boolean isUnused() {
        return endpoints.isEmpty() && (retired || loop.now() - idleSince >= LinkTable.IDLE_NANOS);
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

    void arrives(long tag) {
        if (!destroyed && !loop.isDead()) {
            inbox.add(tag);
            arrived++;
        }
    }

    /** Whether the end of the stream to this channel has arrived and not been delivered. */
    boolean hasEndFor(int channelId) {
        return inbox.stream().anyMatch(tag -> (int) (tag >>> 32) == channelId && (tag >>> 28 & 0xf) == FIN);
    }

    void received(long message) {
        assertUsable();
        assertTrue(unreceived.remove(message), "received twice");
    }

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

    private void deliver(long tag) {
        delivered++;
        MessageSink sink = sinks.get((int) (tag >>> 32));
        if (sink != null) {
            long handle = delivered;
            unreceived.add(handle);
            sink.onMessage(tag, handle, 0);
            assertFalse(unreceived.contains(handle), "a message is not received");
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /** @return whether it is gone now */
    boolean destroyIfDisposable() {
        if (pins == 0 && isUnused()) {
            assertEquals(Map.of(), sinks, "channels of a worker without endpoints");
            destroyed = true;
        }
        return destroyed;
    }
}
