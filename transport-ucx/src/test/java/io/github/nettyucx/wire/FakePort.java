// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.util.ReferenceCounted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * One endpoint and its worker, over memory, for any number of channels. What it does when is up to the {@link Dice};
 * what is allowed is UCX's.
 */
final class FakePort implements EndpointPort {

    private enum State {
        OPEN, FAILED, CLOSED
    }

    private final String name;
    private final FakeLink link;
    private final Dice dice;
    private FakePort peer;
    private State state = State.OPEN;
    /** Channels that use it, or are going to. */
    private int users;
    private final List<EndpointListener> listeners = new ArrayList<>();
    /** By the ids of this side's channels. */
    private final Map<Integer, ProtocolWatch> watches = new HashMap<>();
    private int failure;
    private int failureToCome;
    private boolean failureReported;

    /** Sent, and not arrived. */
    private final Deque<FakeMessage> outgoing = new ArrayDeque<>();
    /** Arrived, and not probed. */
    private final Deque<FakeMessage> arrived = new ArrayDeque<>();
    /** By handle; {@code null} once it has been received. */
    private final List<FakeMessage> probed = new ArrayList<>();
    private final Map<Integer, MessageSink> sinks = new HashMap<>();
    private final List<InFlight> tracked = new ArrayList<>();
    private final List<EverySecond> everySecond = new ArrayList<>();
    private final List<FakeRequest> orphans = new ArrayList<>();
    private final List<Receive> receives = new ArrayList<>();
    private boolean undrained;
    /** The peer's channels to which something could not be sent, and so nothing that follows it will be. */
    private final Set<Integer> mute = new HashSet<>();
    private int freed;
    private int dropped;
    private int counts;

    FakePort(String name, FakeLink link, int users) {
        this.name = name;
        this.link = link;
        this.users = users;
        dice = link.dice;
    }

    void connectTo(FakePort other) {
        peer = other;
    }

    /** Before its connection takes the id. */
    void watch(int channelId, ProtocolWatch watch) {
        assertNull(watches.put(channelId, watch));
    }

    void join(EndpointListener listener) {
        assertFalse(failureReported, "joined a link that has failed");
        listeners.add(listener);
    }

    /** A channel needs it no more, or never will. The last one closes it, or leaves it for those to come. */
    void leave(EndpointListener listener) {
        listeners.remove(listener);
        if (--users == 0 && dice.chance(50)) {
            close();
        }
    }

    /** An id that no channel of this side has had. */
    int newChannelId() {
        int id;
        do {
            id = dice.pick(1, 2, 77, -1, -2, Integer.MIN_VALUE, Integer.MAX_VALUE, dice.between(1, 1000));
        } while (watches.containsKey(id));
        return id;
    }

    String name() {
        return name;
    }

    void trace(Supplier<String> event) {
        dice.trace(() -> name + ": " + event.get());
    }

    // ------------------------------------------------------------------------------------------- posting

    private long refused() {
        return failure == 0 ? UcsStatus.ERR_CANCELED : failure;
    }

    private boolean usable() {
        return state == State.OPEN;
    }

    /** @return a status pointer */
    private long post(FakeRequest request, boolean mayBeInline) {
        int inlinePercent = request instanceof Receive && link.weather.lossy() ? 100 : link.weather.inlinePercent();
        if (link.nextFails(request)) {
            trace(() -> request + " is to fail");
            if (dice.chance(50)) {
                return UcsStatus.ERR_IO_ERROR;
            }
            request.doom(UcsStatus.ERR_IO_ERROR);
        } else if (mayBeInline && !request.isDoomed() && dice.chance(inlinePercent)) {
            while (request.isRunning()) {
                assertTrue(request.advance());
            }
            return UcsStatus.OK;
        }
        link.add(request);
        return link.lastHandle();
    }

    @Override
    public long send(long address, long length, long tag) {
        if (!usable()) {
            return refused();
        }
        FakeMessage message = new FakeMessage(this, tag, length);
        ProtocolWatch receiver = peer.watches.get(message.channelId());
        assertNotNull(receiver, () -> message + " is for nobody");
        receiver.peer().posted(message);
        TrackedMemory.Range range = length == 0 ? null : link.memory.at(address, length);
        boolean rendezvous = length >= link.weather.rendezvousThreshold()
                && dice.chance(link.weather.rendezvousPercent());
        Send send = new Send(message, range, rendezvous);
        if (mute.contains(message.channelId())) {
            send.doom(UcsStatus.ERR_CANCELED);
        }
        long answer = post(send, !rendezvous);
        if (answer < 0 || send.isDoomed()) {
            mute.add(message.channelId());
        } else {
            outgoing.add(message);
        }
        trace(() -> "sends " + message + (answer == 0 ? " inline" : ""));
        return answer;
    }

    /** Sends what no correct peer would. */
    void forge(long tag, int length) {
        if (usable()) {
            FakeMessage message = new FakeMessage(this, tag, length);
            message.carry(new byte[length]);
            outgoing.add(message);
            trace(() -> "forges " + message);
        }
    }

    @Override
    public long receive(long handle, long address, long length) {
        FakeMessage message = probed.get((int) handle - 1);
        assertEquals(FakeMessage.Fate.OPEN, message.fate(), () -> message + " received twice");
        if (length < message.length) {
            assertEquals(0, length, () -> message + " received in part");
            message.become(FakeMessage.Fate.DROPPED);
            trace(() -> "drops " + message);
            return dice.chance(50) ? UcsStatus.ERR_MESSAGE_TRUNCATED : post(new Drop(message), false);
        }
        assertEquals(message.length, length, () -> message + " received with another length");
        if (length == 0) {
            message.become(FakeMessage.Fate.IN_MEMORY);
            return UcsStatus.OK;
        }
        TrackedMemory.Range range = link.memory.at(address, length);
        for (Receive other : receives) {
            assertFalse(other.range.overlaps(range), "two receives into the same memory");
        }
        message.become(FakeMessage.Fate.FETCHING);
        Receive receive = new Receive(message, range);
        long answer = post(receive, !message.isRendezvous());
        if (answer > 0) {
            receives.add(receive);
        } else if (answer < 0) {
            message.become(FakeMessage.Fate.LOST);
        }
        trace(() -> "receives " + message + (answer == 0 ? " inline" : ""));
        return answer;
    }

    @Override
    public boolean isFailing() {
        return state == State.FAILED && !failureReported;
    }

    // ------------------------------------------------------------------------------------------- requests

    @Override
    public int status(long request) {
        return own(request).status();
    }

    @Override
    public void free(long request) {
        own(request).free();
        freed++;
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        FakeRequest left = own(request);
        left.abandon(owner);
        orphans.add(left);
    }

    private FakeRequest own(long handle) {
        FakeRequest request = link.request(handle);
        assertTrue(request.port == this, () -> request + " belongs to another port");
        return request;
    }

    @Override
    public void track(InFlight operation) {
        assertFalse(tracked.contains(operation), "tracked twice");
        tracked.add(operation);
    }

    @Override
    public boolean losesMessages() {
        return link.weather.lossy();
    }

    @Override
    public void everySecond(EverySecond task) {
        assertFalse(everySecond.contains(task), "looked at twice");
        everySecond.add(task);
    }

    /** A second goes by. @return whether somebody who has looked need not look again */
    boolean second() {
        return everySecond.removeIf(task -> !task.look());
    }

    @Override
    public void register(int channelId, MessageSink sink) {
        assertNotEquals(0, channelId);
        assertNull(sinks.put(channelId, sink));
    }

    @Override
    public void unregister(int channelId) {
        sinks.remove(channelId);
    }

    private int refusedStatus() {
        return (int) refused();
    }

    /** Reads its memory some time before it completes. */
    final class Send extends FakeRequest {
        private final FakeMessage message;
        private final TrackedMemory.Range range;

        Send(FakeMessage message, TrackedMemory.Range range, boolean rendezvous) {
            super(FakePort.this, "send", message);
            this.message = message;
            this.range = range;
            if (rendezvous) {
                message.announce(this);
            }
        }

        @Override
        boolean advance() {
            if (range != null) {
                range.check();
            }
            if (message.isRendezvous()) {
                return switch (message.fate()) {
                    case IN_MEMORY, DROPPED -> complete(UcsStatus.OK);
                    case LOST -> complete(UcsStatus.ERR_CANCELED);
                    default -> !usable() ? complete(UcsStatus.ERR_CANCELED)
                            : isDoomed() && complete(UcsStatus.OK);
                };
            }
            if (!message.isLaunched() && usable() && !isDoomed()) {
                message.carry(range == null ? new byte[0] : range.read());
                return true;
            }
            return complete(message.isLaunched() ? UcsStatus.OK : refusedStatus());
        }
    }

    private final class Receive extends FakeRequest {
        private final FakeMessage message;
        private final TrackedMemory.Range range;

        Receive(FakeMessage message, TrackedMemory.Range range) {
            super(FakePort.this, "receive", message);
            this.message = message;
            this.range = range;
        }

        @Override
        boolean advance() {
            range.check();
            receives.remove(this);
            if (isDoomed()) {
                message.become(FakeMessage.Fate.LOST);
                return complete(UcsStatus.OK);
            }
            if (!message.isRendezvous()) {
                range.write(message.bytes());
            } else if (usable() && message.source().isRunning()) {
                range.write(message.source().range.read());
            } else {
                message.become(FakeMessage.Fate.LOST);
                return complete(UcsStatus.ERR_CANCELED);
            }
            message.become(FakeMessage.Fate.IN_MEMORY);
            return complete(UcsStatus.OK);
        }
    }

    /** Of a message that nobody wants; what becomes of it does not matter. */
    final class Drop extends FakeRequest {
        Drop(FakeMessage message) {
            super(FakePort.this, "drop", message);
        }

        @Override
        boolean advance() {
            return complete(UcsStatus.ERR_MESSAGE_TRUNCATED);
        }
    }

    // ------------------------------------------------------------------------------------------- the network

    boolean messageArrives() {
        FakeMessage message = peer.outgoing.peek();
        if (message == null || !message.isLaunched()) {
            return false;
        }
        peer.outgoing.remove();
        if (usable()) {
            arrived.add(message);
            trace(() -> "arrives " + message);
        } else {
            message.become(FakeMessage.Fate.LOST);
        }
        return true;
    }

    /** UCX will notice some time that the peer has gone. What is on its way until then still arrives. */
    void willFail(int status) {
        if (usable() && failureToCome == 0) {
            failureToCome = status;
        }
    }

    boolean noticesFailure() {
        if (failureToCome == 0 || !usable()) {
            return false;
        }
        failure = failureToCome;
        trace(() -> "endpoint fails: " + UcsStatus.name(failure));
        state = State.FAILED;
        peer.outgoing.forEach(message -> message.become(FakeMessage.Fate.LOST));
        peer.outgoing.clear();
        forgetUnlaunched();
        peer.willFail(UcsStatus.ERR_CONNECTION_RESET);
        return true;
    }

    /** What UCX had not sent when the endpoint ended never leaves. */
    private void forgetUnlaunched() {
        boolean stuck = false;
        for (Iterator<FakeMessage> messages = outgoing.iterator(); messages.hasNext();) {
            FakeMessage message = messages.next();
            stuck |= !message.isLaunched();
            if (stuck) {
                message.become(FakeMessage.Fate.LOST);
                messages.remove();
            }
        }
    }

    /** As {@code ucp_ep_close_nbx} with FORCE. */
    void close() {
        if (state != State.CLOSED) {
            trace(() -> "closes");
            state = State.CLOSED;
            forgetUnlaunched();
            peer.willFail(dice.pick(UcsStatus.ERR_CONNECTION_RESET, UcsStatus.ERR_ENDPOINT_TIMEOUT));
        }
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    /** Whether every message that has arrived has been delivered. */
    boolean isDrained() {
        return arrived.isEmpty();
    }

    /** What the worker does in a turn. @return whether there was anything to do */
    boolean turn() {
        int work = drain();
        int freedBefore = freed;
        for (int i = tracked.size() - 1; i >= 0; i--) {
            if (!tracked.get(i).poll()) {
                InFlight last = tracked.removeLast();
                if (i < tracked.size()) {
                    tracked.set(i, last);
                }
            }
        }
        work += freed - freedBefore;
        for (int i = orphans.size() - 1; i >= 0; i--) {
            if (orphans.get(i).bury()) {
                orphans.remove(i);
                work++;
            }
        }
        if (state == State.FAILED && !undrained && !failureReported) {
            failureReported = true;
            work++;
            List.copyOf(listeners).forEach(listener -> listener.endpointFailed(failure));
        }
        return work > 0;
    }

    private int drain() {
        int limit = dice.chance(link.weather.hurriedPercent()) ? arrived.size() : dice.between(1, 4);
        int taken = 0;
        while (taken < limit && !arrived.isEmpty()) {
            FakeMessage message = arrived.poll();
            probed.add(message);
            taken++;
            trace(() -> "takes " + message);
            counts += Tag.type(message.tag) == Tag.COUNT ? 1 : 0;
            MessageSink sink = sinks.get(message.channelId());
            if (sink == null) {
                dropped++;
                long request = receive(probed.size(), 0, 0);
                if (request > 0) {
                    abandon(request, null);
                }
            } else {
                watches.get(message.channelId()).delivering(message);
                sink.onMessage(message.tag, probed.size(), message.length);
            }
        }
        undrained = !arrived.isEmpty();
        return taken;
    }

    /** How many messages were for channels that are closed. */
    int droppedCount() {
        return dropped;
    }

    /** How often a channel has been told how many messages it should have. */
    int countsTaken() {
        return counts;
    }

    void assertAllReceived() {
        for (FakeMessage message : probed) {
            assertFalse(message.fate() == FakeMessage.Fate.OPEN, () -> "never received: " + message);
        }
        assertTrue(tracked.isEmpty(), "still tracked");
        assertTrue(sinks.isEmpty(), "still registered");
    }
}
