// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.lane.LinkFactory.EndpointSide;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.util.ReferenceCounted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** An endpoint of a {@link FakeWorker}. Its messages have no bytes. */
final class FakeEndpoint implements EndpointSide, EndpointPort {

    /** Where UCX looks for an endpoint: the count is of those that its worker has made to the other one. */
    record Place(long own, long other, int count) {
    }

    private enum State {
        OPEN, FAILED, CLOSED
    }

    private final FakeWorker worker;
    private final Place place;
    private final Set<EndpointListener> users = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Tags of the messages that have not arrived. */
    private final Deque<Long> underWay = new ArrayDeque<>();
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
    public EndpointPort port() {
        return this;
    }

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
        assertFalse(isClosed(), "an endpoint is closed twice");
        assertEquals(Set.of(), users, "an endpoint is closed under its users");
        state = State.CLOSED;
        if (worker.ucx.random.nextBoolean()) {
            dropWhatIsUnderWay();
        }
        worker.closed(this);
        worker.ucx.ended(this);
    }

    // ------------------------------------------------------------------------------------------- failures

    void fail() {
        if (isOpen()) {
            state = State.FAILED;
            dropWhatIsUnderWay();
            worker.noteFailure(this);
            worker.ucx.ended(this);
        }
    }

    /** With its process, if that is dead. */
    void dieWithProcess() {
        if (worker.loop.isDead()) {
            state = State.CLOSED;
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
        assertEquals(0, length);
        worker.loop.world.checkSend(this, (int) (tag >>> 32));
        if (underWay.isEmpty()) {
            worker.ucx.sending.add(this);
        }
        underWay.add(tag);
        return UcsStatus.OK;
    }

    void messageArrives() {
        worker.ucx.worker(place.other).arrives(underWay.remove());
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

    @Override
    public long receive(long message, long address, long length) {
        worker.received(message);
        return UcsStatus.OK;
    }

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
    public void track(InFlight operation) {
        // A send that was refused is told by the next poll.
        worker.loop.later(() -> {
            if (operation.poll()) {
                track(operation);
            }
        });
    }

    @Override
    public int status(long request) {
        throw new AssertionError("everything completes at once");
    }

    @Override
    public void free(long request) {
        throw new AssertionError("everything completes at once");
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        throw new AssertionError("everything completes at once");
    }

    @Override
    public String toString() {
        return "endpoint " + place + ' ' + state;
    }
}
