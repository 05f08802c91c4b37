// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.LinkPort;
import io.github.nettyucx.worker.MessageSink;
import io.netty.util.ReferenceCounted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

/**
 * An endpoint of a {@link FakeWorker}. Some of its operations take time, as the world's seed has it. They end by
 * themselves, or with the endpoint: then some time after it has failed, or its close has returned.
 */
final class FakeEndpoint implements LinkPort {

    /** Where UCX looks for an endpoint: the count is of those that its worker has made to the other one. */
    record Place(long own, long other, int count) {
    }

    private enum State {
        OPEN, FAILED, CLOSED
    }

    private static final byte[] NOTHING = {};

    private final FakeWorker worker;
    private final Place place;
    private final Set<EndpointListener> users = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Messages that have not arrived. */
    private final Deque<FakeMessage> underWay = new ArrayDeque<>();
    private State state = State.OPEN;
    private boolean reported;

    FakeEndpoint(FakeWorker worker, long peer, int count) {
        this.worker = worker;
        place = new Place(worker.uuid, peer, count);
    }

    Place place() {
        return place;
    }

    /** The other side's endpoint of the link, or {@code null} if it was never made. */
    FakeEndpoint counterpart() {
        return worker.ucx.at(new Place(place.other, place.own, place.count));
    }

    boolean isClosed() {
        return state == State.CLOSED;
    }

    // ------------------------------------------------------------------------------------------- as a link

    @Override
    public boolean isOpen() {
        return state == State.OPEN;
    }

    @Override
    public void add(EndpointListener user) {
        assertFalse(isClosed(), "somebody begins to use an endpoint that is closed");
        users.add(user);
        if (reported) {
            worker.loop.later(this::tellUsers);
        }
    }

    @Override
    public void remove(EndpointListener user) {
        users.remove(user);
    }

    @Override
    public List<String> transports() {
        return isOpen() ? List.of("fake/memory") : List.of();
    }

    @Override
    public void close() {
        if (worker.loop.isReclaimed()) {
            return;
        }
        assertFalse(isClosed(), "an endpoint is closed twice");
        assertEquals(Set.of(), users, "an endpoint is closed under its users");
        worker.loop.world.trace(() -> place + " is closed");
        if (worker.hasInFlight(this)) {
            worker.loop.world.see(LinkWorld.Sight.IN_FLIGHT_AT_CLOSE);
        }
        state = State.CLOSED;
        if (worker.ucx.random.nextBoolean()) {
            dropWhatIsUnderWay();
        } else {
            dropUnlaunched();
        }
        if (worker.loop.world.staysInFlight()) {
            long request = worker.posted(new Close());
            worker.request(request).abandon(null);
            worker.adopt(request, null, () -> worker.closed(this));
        } else {
            worker.closed(this);
        }
        worker.ucx.ended(this);
    }

    // ------------------------------------------------------------------------------------------- failures

    void fail() {
        if (isOpen()) {
            worker.loop.world.trace(() -> place + " fails");
            worker.loop.world.halfIsLost();
            if (worker.hasInFlight(this)) {
                worker.loop.world.see(LinkWorld.Sight.FAILED_IN_FLIGHT);
            }
            state = State.FAILED;
            dropWhatIsUnderWay();
            worker.noteFailure(this);
            worker.ucx.ended(this);
        }
    }

    /** With its process, if that is dead: perhaps in the middle of a message. */
    void dieWithProcess() {
        if (worker.loop.isDead()) {
            state = State.CLOSED;
            FakeMessage next = underWay.peek();
            if (next != null && next.source == null && next.length > 0 && !worker.loop.world.oneIn(4)) {
                next.torn = true;
                worker.ucx.worker(place.other).arrives(next);
            }
            dropWhatIsUnderWay();
            worker.ucx.ended(this);
        }
    }

    boolean hasEndFor(int channelId) {
        return worker.hasEndFor(channelId);
    }

    void reportFailure() {
        reported = true;
        tellUsers();
    }

    private void tellUsers() {
        List<EndpointListener> told = new ArrayList<>(users);
        users.clear();
        told.forEach(user -> user.endpointFailed(UcsStatus.ERR_CONNECTION_RESET));
    }

    @Override
    public boolean isFailing() {
        return state == State.FAILED && !reported;
    }

    // ------------------------------------------------------------------------------------------- messages

    @Override
    public long send(long address, long length, long tag) {
        worker.assertUsable();
        assertFalse(isClosed(), "a send on an endpoint that is closed");
        if (!isOpen()) {
            return UcsStatus.ERR_CONNECTION_RESET;
        }
        FakeMessage message = new FakeMessage(this, tag, (int) length);
        worker.loop.world.checkSend(this, message.channelId());
        worker.loop.world.trace(() -> place + " sends a " + message);
        if (underWay.isEmpty()) {
            worker.ucx.sending.add(this);
        }
        underWay.add(message);
        LoopMemory.Range memory = length == 0 ? null : worker.loop.memory.at(address, (int) length);
        Send send = new Send(message, memory);
        if (worker.loop.world.goesByRendezvous(length)) {
            message.source = send;
        } else if (!worker.loop.world.staysInFlight()) {
            send.launch();
            return UcsStatus.OK;
        }
        return worker.posted(send);
    }

    boolean messageArrives() {
        FakeMessage message = underWay.peek();
        if (!message.isLaunched()) {
            return false;
        }
        worker.ucx.worker(place.other).arrives(message);
        underWay.remove();
        forgetIfIdle();
        return true;
    }

    private void forgetIfIdle() {
        if (underWay.isEmpty()) {
            worker.ucx.sending.remove(this);
        }
    }

    private void dropWhatIsUnderWay() {
        if (!underWay.isEmpty()) {
            underWay.clear();
            worker.ucx.sending.remove(this);
        }
    }

    /** What UCX had not sent when the endpoint was closed never leaves, nor does what would follow it. */
    private void dropUnlaunched() {
        boolean dropping = false;
        for (Iterator<FakeMessage> all = underWay.iterator(); all.hasNext();) {
            dropping |= !all.next().isLaunched();
            if (dropping) {
                all.remove();
            }
        }
        forgetIfIdle();
    }

    @Override
    public long receive(long handle, long address, long length) {
        if (worker.loop.isReclaimed()) {
            return UcsStatus.OK;
        }
        FakeMessage message = worker.received(handle);
        assertSame(this, message.sender.counterpart(), "a message is received from another link");
        if (length == 0) {
            return worker.discard(message);
        }
        assertEquals(message.length, length, "received with another length");
        LoopMemory.Range memory = worker.loop.memory.at(address, message.length);
        if (message.source == null && !message.torn && !worker.loop.world.staysInFlight()) {
            memory.write(message.bytes);
            return UcsStatus.OK;
        }
        return worker.posted(new Receive(message, memory));
    }

    @Override
    public int status(long request) {
        return worker.request(request).status(false);
    }

    @Override
    public void free(long request) {
        worker.free(request, false);
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        if (worker.loop.isReclaimed()) {
            if (owner != null) {
                owner.release();
            }
            return;
        }
        worker.loop.world.see(LinkWorld.Sight.ORPHANED);
        worker.request(request).abandon(owner);
        worker.adopt(request, owner, null);
    }

    /** Reads its memory some time before it completes. */
    final class Send extends FakeRequest {
        private final FakeMessage message;
        /** What its memory holds until then. */
        private final byte[] content;

        private Send(FakeMessage message, LoopMemory.Range memory) {
            super(FakeEndpoint.this.worker, "the send of a " + message, memory);
            this.message = message;
            content = memory == null ? NOTHING : memory.read();
        }

        @Override
        FakeEndpoint endpoint() {
            return FakeEndpoint.this;
        }

        private byte[] bytes() {
            byte[] bytes = memory == null ? NOTHING : memory.read();
            assertArrayEquals(content, bytes, "memory in use has been written to");
            return bytes;
        }

        private void launch() {
            message.bytes = bytes();
        }

        @Override
        boolean advance() {
            if (message.source != null) {
                return message.fate != FakeMessage.Fate.OPEN ? complete(UcsStatus.OK)
                        : !isOpen() && complete(UcsStatus.ERR_CANCELED);
            }
            if (message.isLaunched()) {
                return complete(UcsStatus.OK);
            }
            if (!isOpen()) {
                return complete(UcsStatus.ERR_CANCELED);
            }
            launch();
            return true;
        }
    }

    /** Writes its memory when it completes. */
    private final class Receive extends FakeRequest {
        private final FakeMessage message;

        Receive(FakeMessage message, LoopMemory.Range memory) {
            super(FakeEndpoint.this.worker, "the receive of a " + message, memory);
            this.message = message;
        }

        @Override
        FakeEndpoint endpoint() {
            return FakeEndpoint.this;
        }

        @Override
        boolean isStuck() {
            return message.torn;
        }

        @Override
        boolean advance() {
            if (message.torn) {
                return false;
            }
            if (message.source == null) {
                memory.write(message.bytes);
            } else if (isOpen() && message.sender.isOpen() && message.source.isRunning()) {
                memory.write(message.source.bytes());
                message.fate = FakeMessage.Fate.IN_MEMORY;
            } else {
                // As long as its own endpoint is open it waits for bytes that never come.
                return !isOpen() && complete(UcsStatus.ERR_CANCELED);
            }
            return complete(UcsStatus.OK);
        }
    }

    @Override
    public long flush() {
        if (!isOpen()) {
            return UcsStatus.ERR_CONNECTION_RESET;
        }
        return isAnswered() && !worker.loop.world.staysInFlight() ? UcsStatus.OK : worker.posted(new Flush());
    }

    /** The other side has made its endpoint, and still has it. */
    private boolean isAnswered() {
        FakeEndpoint other = counterpart();
        return other != null && other.isOpen();
    }

    /** Never completes if the counterpart is gone, and UCX does not notice. */
    private final class Flush extends FakeRequest {
        Flush() {
            super(FakeEndpoint.this.worker, "the flush of " + place, null);
        }

        @Override
        FakeEndpoint endpoint() {
            return FakeEndpoint.this;
        }

        @Override
        boolean advance() {
            return !isOpen() ? complete(UcsStatus.ERR_CANCELED) : isAnswered() && complete(UcsStatus.OK);
        }
    }

    /** Of the endpoint itself. */
    private final class Close extends FakeRequest {
        Close() {
            super(FakeEndpoint.this.worker, "the close of " + place, null);
        }

        @Override
        FakeEndpoint endpoint() {
            return FakeEndpoint.this;
        }

        @Override
        boolean advance() {
            return complete(UcsStatus.OK);
        }
    }

    // ------------------------------------------------------------------------------------------- its channels

    @Override
    public void register(int channelId, MessageSink sink) {
        assertFalse(isClosed(), "a channel of an endpoint that is closed");
        worker.register(channelId, sink);
    }

    @Override
    public void unregister(int channelId) {
        worker.unregister(channelId);
    }

    @Override
    public void everySecond(EverySecond task) {
        // No second goes by.
    }

    @Override
    public void track(InFlight operation) {
        worker.track(operation);
    }

    @Override
    public String toString() {
        return "endpoint " + place + ' ' + state;
    }
}
