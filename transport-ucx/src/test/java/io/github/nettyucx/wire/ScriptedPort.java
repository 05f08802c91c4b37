// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.util.ReferenceCounted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * An endpoint, and its worker, that does what a test tells it to. What it is not told to complete stays in flight.
 */
final class ScriptedPort implements EndpointPort {

    static final long INLINE = UcsStatus.OK;
    static final long PENDING = Long.MAX_VALUE;
    static final int CHANNEL_ID = 0xcafe;

    /** A message that was sent. */
    record Sent(long address, long length, long tag, long request) {
        int type() {
            return Tag.type(tag);
        }

        int value() {
            return Tag.value(tag);
        }
    }

    private static final class Operation {
        private int status = UcsStatus.INPROGRESS;
        private boolean freed;
        private boolean abandoned;
        private ReferenceCounted owner;
        private Runnable effect;
    }

    final TrackedMemory memory = new TrackedMemory();
    final List<Sent> sent = new ArrayList<>();
    private final List<Operation> operations = new ArrayList<>();
    private final List<byte[]> messages = new ArrayList<>();
    private final List<Long> dropped = new ArrayList<>();
    private final List<Long> receives = new ArrayList<>();
    private final Deque<Long> answers = new ArrayDeque<>();
    private final List<InFlight> tracked = new ArrayList<>();
    private final Map<Integer, MessageSink> sinks = new HashMap<>();
    /** DATA that have been delivered to a channel. */
    private final Map<Integer, Integer> data = new HashMap<>();
    private int unknown;
    private int statusCalls;
    private boolean failing;
    private int losses;
    private final boolean lossy;
    private final List<EverySecond> everySecond = new ArrayList<>();

    ScriptedPort() {
        this(false);
    }

    /** @param lossy whether messages can get lost */
    ScriptedPort(boolean lossy) {
        this.lossy = lossy;
    }

    /** What the next operations answer; after these, operations complete at once. */
    void answer(long... next) {
        for (long answer : next) {
            answers.add(answer);
        }
    }

    private long post(Runnable effect) {
        long answer = answers.isEmpty() ? INLINE : answers.poll();
        if (answer < 0) {
            return answer;
        }
        if (answer == INLINE) {
            effect.run();
            return INLINE;
        }
        Operation operation = new Operation();
        operation.effect = effect;
        operations.add(operation);
        return operations.size();
    }

    /** Completes an operation that was answered with {@link #PENDING}. */
    void complete(long request, int status) {
        Operation operation = operations.get((int) request - 1);
        if (status == UcsStatus.OK) {
            operation.effect.run();
        }
        operation.status = status;
        if (operation.abandoned) {
            operation.freed = true;
            if (operation.owner != null) {
                operation.owner.release();
            }
        }
    }

    void completeAll() {
        for (int i = 1; i <= operations.size(); i++) {
            if (operations.get(i - 1).status == UcsStatus.INPROGRESS) {
                complete(i, UcsStatus.OK);
            }
        }
    }

    /** The request of the message that was sent last. */
    long lastRequest() {
        return sent.getLast().request();
    }

    /** The request of a receive, by the order of the calls. */
    long receive(int number) {
        return receives.get(number);
    }

    int receiveCount() {
        return receives.size();
    }

    /** A message that has arrived. */
    long message(byte... bytes) {
        messages.add(bytes);
        return messages.size();
    }

    boolean isDropped(long message) {
        return dropped.contains(message);
    }

    int droppedCount() {
        return dropped.size();
    }

    void assertEverythingReturned() {
        for (Operation operation : operations) {
            assertTrue(operation.freed, "an operation was never freed");
        }
        memory.assertReleased();
    }

    // ------------------------------------------------------------------------------------------- the connection's side

    @Override
    public long send(long address, long length, long tag) {
        if (length > 0) {
            memory.at(address, length);
        }
        long request = post(() -> {
        });
        sent.add(new Sent(address, length, tag, request));
        return request;
    }

    @Override
    public long receive(long message, long address, long length) {
        byte[] bytes = messages.get((int) message - 1);
        if (length == 0) {
            dropped.add(message);
            return bytes.length == 0 ? UcsStatus.OK : UcsStatus.ERR_MESSAGE_TRUNCATED;
        }
        assertEquals(bytes.length, length);
        TrackedMemory.Range range = memory.at(address, length);
        long request = post(() -> range.write(bytes));
        receives.add(request);
        return request;
    }

    @Override
    public boolean isFailing() {
        return failing;
    }

    @Override
    public int status(long request) {
        statusCalls++;
        return operation(request).status;
    }

    @Override
    public void free(long request) {
        assertNotEquals(UcsStatus.INPROGRESS, operation(request).status, "freed while it runs");
        operation(request).freed = true;
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        Operation operation = operation(request);
        operation.abandoned = true;
        operation.owner = owner;
    }

    private Operation operation(long request) {
        Operation operation = operations.get((int) request - 1);
        assertTrue(!operation.freed && !operation.abandoned, "used after it was given back");
        return operation;
    }

    @Override
    public void track(InFlight operation) {
        assertFalse(tracked.contains(operation), "tracked twice");
        tracked.add(operation);
    }

    @Override
    public boolean losesMessages() {
        return lossy;
    }

    @Override
    public void everySecond(EverySecond task) {
        assertFalse(everySecond.contains(task), "looked at twice");
        everySecond.add(task);
    }

    @Override
    public void messagesLost() {
        losses++;
    }

    /** A second goes by. @return whether somebody wants to look again in another one */
    boolean second() {
        everySecond.removeIf(task -> !task.look());
        return !everySecond.isEmpty();
    }

    @Override
    public void register(int channelId, MessageSink sink) {
        assertNull(sinks.put(channelId, sink), "somebody else's id");
        data.remove(channelId);
    }

    @Override
    public void unregister(int channelId) {
        assertNotNull(sinks.remove(channelId), "nobody's id");
    }

    // ------------------------------------------------------------------------------------------- the loop's side

    boolean isTracked() {
        return !tracked.isEmpty();
    }

    boolean isRegistered() {
        return !sinks.isEmpty();
    }

    /** Polls what is in flight, as the loop does in every turn. @return how often a request's status was asked for */
    int poll() {
        int before = statusCalls;
        for (InFlight operation : List.copyOf(tracked)) {
            if (!operation.poll()) {
                tracked.remove(operation);
            }
        }
        return statusCalls - before;
    }

    int statusCalls() {
        return statusCalls;
    }

    /** Delivers a message of {@code type}. @return its handle */
    long deliver(int type, int value, byte... bytes) {
        return deliverTo(CHANNEL_ID, type, value, bytes);
    }

    /** Delivers a message to whoever has this id, and drops it if that is nobody, as a worker does. */
    long deliverTo(int channelId, int type, int value, byte... bytes) {
        long message = message(bytes);
        MessageSink sink = sinks.get(channelId);
        if (sink != null) {
            try {
                sink.onMessage(tag(channelId, type, value), message, bytes.length);
            } catch (OutOfMemoryError e) {
                // As a worker does.
                sink.onMessageThrew(e);
            }
        } else {
            unknown++;
            receive(message, 0, 0);
        }
        return message;
    }

    /** @param value of DATA: the grant; of FIN: {@link Tag#FIN_HALF} or {@link Tag#FIN_CLOSE}; of COUNT: how many, all whole */
    private long tag(int channelId, int type, int value) {
        return switch (type) {
            case Tag.DATA -> Tag.ofData(channelId, data.merge(channelId, 1, Integer::sum) - 1, value);
            case Tag.FIN -> Tag.ofFin(channelId, data.getOrDefault(channelId, 0), value == Tag.FIN_CLOSE);
            case Tag.COUNT -> Tag.ofCount(channelId, value, true);
            default -> Tag.of(channelId, type, value);
        };
    }

    /** A COUNT of messages of which UCX does not have all. */
    void deliverBegun(int messages) {
        sinks.get(CHANNEL_ID).onMessage(Tag.ofCount(CHANNEL_ID, messages, false), message(), 0);
    }

    /** Of a message that claims to have so many bytes the first ones arrive, for a connection that has had no DATA before. */
    void deliverClaim(long length) {
        sinks.get(CHANNEL_ID).onMessage(Tag.ofData(CHANNEL_ID, 0, 0), message(), length);
    }

    /** How often a connection has found out that messages have been lost. */
    int losses() {
        return losses;
    }

    /** So many DATA never arrive. */
    void lose(int messages) {
        data.merge(CHANNEL_ID, messages, Integer::sum);
    }

    /** How many messages were for nobody. */
    int unknownCount() {
        return unknown;
    }

    /** UCX has reported the endpoint's failure, and the loop has not yet passed it on. */
    void failing() {
        failing = true;
    }
}
