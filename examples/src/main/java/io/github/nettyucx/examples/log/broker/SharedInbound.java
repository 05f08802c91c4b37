// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Any number of producers write, each at the place that it has reserved by a fetch-and-add on the word behind the segment.
 * The broker itself reserves in the same way for records that come by message. They are committed in the order of the
 * reservations. One that stays empty ends the segment in front of it: nothing behind it is committed.
 */
final class SharedInbound extends Inbound {
    /** As many turns may be under way when the broker takes another one. What is left is for producers. */
    private static final int MAX_TURNS = OrderWord.TURNS / 2;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    /** What has become of a reservation. */
    private sealed interface Turn {
        Peer peer();

        default int request() {
            return Message.UNASKED;
        }

        /** If it came by message. */
        default Optional<Sent> sent() {
            return Optional.empty();
        }
    }

    private record Written(Peer peer, int request, long position, long length) implements Turn { }

    private record BySender(Sent message, long position) implements Turn {
        @Override
        public Peer peer() {
            return message.peer();
        }

        @Override
        public int request() {
            return message.request();
        }

        @Override
        public Optional<Sent> sent() {
            return Optional.of(message);
        }
    }

    /** @param message {@code null} if the producer keeps the record */
    private record DoesNotFit(Peer peer, Sent message) implements Turn {
        @Override
        public Optional<Sent> sent() {
            return Optional.ofNullable(message);
        }
    }

    private final EventExecutor loop;
    private final Duration patience;
    private final Set<Peer> members = new LinkedHashSet<>();
    /** Those that are not committed, by their turns, which follow each other: a map that probes would look at all of them. */
    private final Map<Integer, Turn> turns = new HashMap<>();
    /** By message, whose turns somebody else has taken. */
    private final List<Sent> displaced = new ArrayList<>();
    /** By message, for which there were no turns yet. */
    private final Deque<Sent> waiting = new ArrayDeque<>();
    private int nextTurn;
    private long position;
    /** {@code null} if nobody waits behind an empty place. */
    private Future<?> timeout;

    SharedInbound(UcxMemory memory, long capacity, long position, EventExecutor loop, Duration patience,
                  Commits commits) {
        super(memory, capacity, commits);
        this.position = position;
        this.loop = loop;
        this.patience = patience;
        WORD.setVolatile(memory.segment(), OrderWord.at(capacity), OrderWord.of(0, position));
    }

    @Override
    AccessMode mode() {
        return AccessMode.SHARED;
    }

    void add(Peer peer) {
        members.add(peer);
    }

    @Override
    void written(Peer peer, UcxMemoryNotification put) {
        if (take(OrderWord.turn(put.value()), new Written(peer, OrderWord.request(put.value()), put.offset(), put.length()))) {
            progress();
        }
    }

    @Override
    void full(Peer peer, int turn, long at) {
        if (take(turn & OrderWord.TURNS - 1, new DoesNotFit(peer, null))) {
            progress();
        }
    }

    @Override
    void sent(Sent sent) {
        waiting.add(sent);
        if (reserve()) {
            progress();
        }
        limitTime();
    }

    /**
     * Takes places for what has come by message, as long as there are turns: one that was taken twice would be somebody
     * else's.
     *
     * @return whether any was taken
     */
    private boolean reserve() {
        var any = false;
        while (!waiting.isEmpty() && hasTurn()) {
            var sent = waiting.remove();
            var length = sent.records().readableBytes();
            var reserved = (long) WORD.getAndAdd(memory.segment(), OrderWord.at(capacity), OrderWord.reserving(length));
            var place = OrderWord.position(reserved);
            if (!take(OrderWord.turn(reserved), place > capacity - length ? new DoesNotFit(sent.peer(), sent)
                    : new BySender(sent, place))) {
                return false;
            }
            any = true;
        }
        return any;
    }

    private boolean hasTurn() {
        var next = OrderWord.turn((long) WORD.getVolatile(memory.segment(), OrderWord.at(capacity)));
        return (next - nextTurn & OrderWord.TURNS - 1) < MAX_TURNS;
    }

    /** @return whether it goes on; otherwise the segment has ended */
    private boolean take(int number, Turn turn) {
        var before = turns.get(number);
        if (before != null) {
            turn.sent().ifPresent(displaced::add);
            if (turn.sent().isEmpty() && before.sent().isEmpty() && before.peer() == turn.peer()) {
                commits.end(turn.peer(), turn.request(), "turn " + number + " has been taken already");
            } else {
                // One of two has named a turn that he has not reserved, or somebody has written to the word. Who has sent a
                // message has not, and of two who have access it is not known which.
                commits.end(SealReason.DAMAGED);
            }
            return false;
        }
        turns.put(number, turn);
        return true;
    }

    /** Commits what can be, and what can be when that has given its turns back. */
    private void progress() {
        do {
            if (!advance()) {
                return;
            }
        } while (reserve());
        limitTime();
    }

    /** @return whether it goes on; otherwise the segment has ended */
    private boolean advance() {
        for (Turn turn; (turn = turns.get(nextTurn)) != null;) {
            stopTimeout();
            switch (turn) {
                case DoesNotFit _ -> {
                    commits.end(SealReason.FULL);
                    return false;
                }
                case BySender ours when ours.position == position -> {
                    var length = ours.message.records().readableBytes();
                    turns.remove(nextTurn);
                    commits.commit(ours.message);
                    ours.message.records().release();
                    position += length;
                }
                case BySender _ -> {
                    // Somebody has written to the word.
                    commits.end(SealReason.DAMAGED);
                    return false;
                }
                case Written put -> {
                    var fault = put.position != position
                            ? "the record was written at byte " + put.position + " (expected: " + position + ")"
                            : commits.commit(put.peer, put.request, memory, position, put.length);
                    if (fault != null) {
                        commits.end(put.peer, put.request, fault);
                        return false;
                    }
                    position += put.length;
                }
            }
            turns.remove(nextTurn);
            nextTurn = nextTurn + 1 & OrderWord.TURNS - 1;
        }
        return true;
    }

    private void limitTime() {
        if ((!turns.isEmpty() || !waiting.isEmpty()) && timeout == null) {
            timeout = loop.schedule(() -> commits.end(SealReason.TIMED_OUT), patience.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void stopTimeout() {
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
    }

    @Override
    Collection<Peer> members() {
        return members;
    }

    @Override
    void removed(Peer peer) {
        members.remove(peer);
    }

    @Override
    long position() {
        return position;
    }

    @Override
    List<Sent> stop() {
        stopTimeout();
        var unplaced = new ArrayList<Sent>();
        // In the order of their turns, which begin with the next one and may wrap around.
        for (var i = 0; i < OrderWord.TURNS && !turns.isEmpty(); i++) {
            var turn = turns.remove(nextTurn + i & OrderWord.TURNS - 1);
            if (turn != null) {
                turn.sent().ifPresent(unplaced::add);
            }
        }
        unplaced.addAll(displaced);
        displaced.clear();
        unplaced.addAll(waiting);
        waiting.clear();
        return unplaced;
    }
}
