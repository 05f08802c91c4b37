// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.Channel;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;

/**
 * What goes out to one peer: a ring that any thread writes into, and that the loop of the connection takes from.
 * <p>
 * A thread waits when there is no room. An event loop must not, because it may be the one that makes room: what it sends
 * then is kept beside the ring ({@link Overflow}), up to a limit, and goes in when there is room.
 * <p>
 * A connection that is to be closed ends when no message is in the middle. If threads went on with large messages there would
 * never be such a moment. So no message in fragments begins meanwhile: threads wait, and what event loops send is kept beside
 * the ring.
 */
final class Outgoing implements Ring.Span {

    /** What a frame is of a message. */
    enum Part {
        WHOLE,
        /** Of a message in fragments. */
        FIRST,
        FURTHER
    }

    /** Of one buffer that is written to a channel. */
    private static final int MAX_SPAN = 64 * 1024;
    /**
     * So many messages in fragments threads may have begun at the same time, or fewer: a receiver takes no more than
     * {@link Reassembly#MAX_MESSAGES}, and there are those of event loops as well, one of each.
     */
    private static final int MAX_BEGUN = Reassembly.MAX_MESSAGES / 2;
    /** After so many bytes others of the loop have their turn. */
    private static final int MAX_TURN = 512 * 1024;

    private final Peer peer;
    private final Node node;
    private final Ring ring;
    private final Spans spans;
    private final int maxFrame;
    private final int maxBegun;
    private final int napBytes;
    private final AtomicLong fragmented = new AtomicLong();
    /** Messages in fragments of threads that have not ended. */
    private final AtomicInteger begun = new AtomicInteger();
    private final Overflow overflow;
    /** What threads wait for, by the length of a frame. */
    private final IntPredicate room;
    private final IntPredicate roomToBegin;

    // Of the consumer.
    /** Of what has been taken since the connection began. */
    private final UnderWay underWay = new UnderWay();
    private Channel channel;
    private LoopCounters counters;
    private long turnBytes;
    /** There is more to do when the channel is writable. */
    private boolean waitsForChannel;
    // What has been taken since the ring was found empty.
    private long restFrames;
    private long restBytes;

    Outgoing(Peer peer, Node node) {
        this.peer = peer;
        this.node = node;
        ring = new Ring(node.settings().ringCapacity());
        overflow = new Overflow(peer, node, ring);
        maxFrame = Math.min(ring.maxFrame(), Fragments.LIMIT);
        maxBegun = Math.min(MAX_BEGUN, Reassembly.MAX_MESSAGES - node.loops());
        napBytes = Math.min(WakeModeration.NAP_BYTES, ring.capacity() / 4);
        spans = new Spans(ring, peer::drainSoon);
        room = ring::hasRoom;
        roomToBegin = length -> ring.hasRoom(length) && mayBegin();
    }

    Ring ring() {
        return ring;
    }

    /** The longest frame, in bytes. */
    int maxFrame() {
        return maxFrame;
    }

    // ------------------------------------------------------------------------------------------- any thread

    /**
     * Writes a message into the ring.
     *
     * @param kind        of the frame
     * @param correlation of a request or a response, or 0 of what has none
     * @param wait        whether to wait for room
     * @param request     whose time ends the waiting, or {@code null}
     * @return its ticket, or {@link Peer#NO_TICKET} if it waits beside the ring
     * @throws MessagingException.RingFull       if there is no room
     * @throws MessagingException.RequestTimeout if there has been none in the time of the request
     */
    <T> long put(Outbox outbox, int kind, int type, long correlation, Codec<? super T> codec, T message, boolean wait,
                 Pending request) {
        int prefix = kind == Frame.MESSAGE ? 0 : 8;
        int body = codec.size(message);
        if (body < 0 || body > node.settings().maxMessage() && kind != Frame.FAILURE) {
            throw new IllegalArgumentException("a message of " + body + " bytes (expected: 0 to "
                    + node.settings().maxMessage() + ", which is maxMessage of this node)");
        }
        int length = Frame.HEADER + prefix + body;
        if (length > maxFrame) {
            return putFragments(outbox, kind, type, correlation, codec, message, prefix + body, wait, request);
        }
        Slot slot = reserve(outbox.slot, length, Part.WHOLE, wait, request);
        long position = slot.position;
        Exporter exporter = outbox.exporter;
        exporter.window(slot.memory, slot.offset + Frame.HEADER, slot.offset + length, null);
        int written = Frame.SKIP;
        try {
            if (prefix != 0) {
                exporter.putLong(correlation);
            }
            codec.write(message, exporter);
            if (exporter.left() != 0) {
                throw new IndexOutOfBoundsException("the codec has written " + exporter.left()
                        + " bytes less than its size() has said");
            }
            written = kind;
        } finally {
            commit(slot, length, written, written == Frame.SKIP ? 0 : type);
        }
        return position;
    }

    private <T> long putFragments(Outbox outbox, int kind, int type, long correlation, Codec<? super T> codec, T message,
                                  int total, boolean wait, Pending request) {
        Fragments fragments = outbox.fragments;
        Exporter exporter = outbox.exporter;
        fragments.begin(this, exporter, wait, request, fragmented.incrementAndGet(), kind, type, total);
        boolean complete = false;
        try {
            if (kind != Frame.MESSAGE) {
                exporter.putLong(correlation);
            }
            codec.write(message, exporter);
            long first = fragments.end();
            complete = true;
            return first;
        } finally {
            if (!complete) {
                fragments.abort();
            }
        }
    }

    /**
     * Room for a frame.
     *
     * @param slot is told where it is, if that is in the ring
     * @return that one, or another
     */
    Slot reserve(Slot slot, int length, Part part, boolean wait, Pending request) {
        long position = Ring.FULL;
        if (isNothingBefore(part) || !node.isLoop()) {
            position = reserveNow(length, part);
        }
        if (position < 0) {
            position = reserveSlowly(length, part, wait, request);
            if (position == Ring.FULL) {
                Slot beside = overflow.add(length);
                beside.waits = part == Part.FIRST && overflow.holdsUp();
                return beside;
            }
        }
        return at(slot, position);
    }

    /** The same for a further part of a message of which the first {@linkplain Slot#waits waits} beside the ring. */
    Slot reserveBeside(int length) {
        return overflow.add(length);
    }

    /** The same, at once and in any case: there is room beside the ring, also when it is closed. */
    Slot reserveAnyway(Slot slot, int length) {
        // Not in front of a part of the message that waits there.
        long position = overflow.isEmptyForParts() ? ring.reserveAccepted(length) : Ring.FULL;
        return position < 0 ? overflow.addAnyway(length) : at(slot, position);
    }

    private boolean isNothingBefore(Part part) {
        return part == Part.FURTHER ? overflow.isEmptyForParts() : overflow.isEmpty();
    }

    private long reserveNow(int length, Part part) {
        return part == Part.FIRST ? reserveFirst(length) : ring.reserve(length);
    }

    private long reserveFirst(int length) {
        if (isHeldUp()) {
            return Ring.FULL;
        }
        if (node.isLoop()) {
            // It ends the message before it begins another one.
            return ring.reserve(length);
        }
        int before;
        do {
            before = begun.get();
            if (before >= maxBegun && !ring.isClosed()) {
                return Ring.FULL;
            }
        } while (!begun.compareAndSet(before, before + 1));
        long position = ring.reserve(length);
        if (position < 0) {
            ended();
        }
        return position;
    }

    /** A message in fragments of a thread has ended: its last frame is in the ring. Any thread may call. */
    void ended() {
        if (begun.getAndDecrement() == maxBegun) {
            ring.waiters().wakeAll();
        }
    }

    /** Whether a message of the calling thread counts among those that may begin. */
    boolean isCounted() {
        return !node.isLoop();
    }

    /** Whether no message in fragments may begin. It is not looked at for others. */
    private boolean isHeldUp() {
        return peer.isLeaving() && !ring.isClosed();
    }

    private boolean mayBegin() {
        return !isHeldUp() && (begun.get() < maxBegun || ring.isClosed());
    }

    private Slot at(Slot slot, long position) {
        slot.memory = ring.memory();
        slot.offset = ring.offset(position);
        slot.position = position;
        return slot;
    }

    /** @return {@link Ring#FULL} if the frame has to wait beside the ring */
    private long reserveSlowly(int length, Part part, boolean wait, Pending request) {
        if (node.isLoop()) {
            peer.drainHere();
            return isNothingBefore(part) ? checked(reserveNow(length, part)) : Ring.FULL;
        }
        node.counters().ringFull.increment();
        long limit = node.settings().sendTimeoutNanos();
        long deadline = System.nanoTime() + limit;
        boolean isRequests = request != null && request.deadlineNanos - deadline < 0;
        if (isRequests) {
            deadline = request.deadlineNanos;
        }
        for (;;) {
            long position = checked(reserveNow(length, part));
            if (position >= 0) {
                return position;
            }
            if (!wait) {
                throw new MessagingException.RingFull(part == Part.FIRST && isHeldUp() ? "a message in several parts must not"
                        + " begin now, because the connection to node " + peer.id() + " is being closed"
                        : part == Part.FIRST && !mayBegin() ? "other threads are in the middle of " + maxBegun
                        + " messages in several parts to node " + peer.id()
                        : "there is no room in the ring to node " + peer.id());
            }
            try {
                if (!awaitRoom(length, part, deadline)) {
                    throw isRequests ? new MessagingException.RequestTimeout("there has been no room in the ring to node "
                            + peer.id() + " in the time of the request, which was not sent")
                            : new MessagingException.RingFull("there has been no room in the ring to node " + peer.id()
                            + " for " + limit / 1_000_000 + " ms, which is the node's sendTimeout: the peer takes nothing");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new MessagingException("interrupted while it waited for room in the ring to node " + peer.id(), e);
            }
        }
    }

    private boolean awaitRoom(int length, Part part, long deadline) throws InterruptedException {
        boolean handling = Inbox.isHandling();
        for (;;) {
            long end = System.nanoTime() + Inbox.STALL_NANOS;
            boolean isLast = !handling || end - deadline >= 0;
            if (ring.waiters().await(part == Part.FIRST ? roomToBegin : room, length, isLast ? deadline : end)) {
                return true;
            }
            if (isLast) {
                return false;
            }
            Inbox.handlerWaits();
        }
    }

    private long checked(long position) {
        if (position == Ring.CLOSED) {
            throw new MessagingException.NodeLost("this node has been closed", null);
        }
        return position;
    }

    private void commit(Slot slot, int length, int kind, int type) {
        commit(slot, length, kind, type, kind == Frame.MESSAGE);
    }

    /** @param canWait see {@link Ring#commit(long, int, int, int, boolean)} */
    void commit(Slot slot, int length, int kind, int type, boolean canWait) {
        if (slot.position == Peer.NO_TICKET) {
            slot.kind = kind;
            slot.type = type;
            commitBeside(slot);
        } else if (ring.commit(slot.position, length, kind, type, canWait) || isOfItsOwnLoop()) {
            peer.wake();
        }
    }

    /** The loop naps for threads, and not for what its own handlers send. */
    private boolean isOfItsOwnLoop() {
        return ring.naps() && peer.isOnLoop() && ring.wake();
    }

    /** Completes a frame beside the ring, or a whole message of which it is the first. */
    void commitBeside(Slot slot) {
        overflow.commit(slot);
        if (ring.wake()) {
            peer.wake();
        }
    }

    /** Gives up a message of which all frames are beside the ring, and none has been committed. */
    void drop(Slot first) {
        overflow.drop(first);
    }

    // ------------------------------------------------------------------------------------------- the consumer

    /** Messages in fragments may begin again. Any thread may call. */
    void released() {
        ring.waiters().wakeAll();
    }

    /** Up to which position messages have been given to a channel, or discarded. */
    long taken() {
        return ring.taken();
    }

    /** What has become of a {@link #send}. */
    enum Sent {
        /** The producer of the next frame wakes the loop, or of a later one if it naps. */
        ASLEEP,
        /** There is more to do at once. */
        MORE,
        /** There is more to do when the channel has sent something. */
        WAITING
    }

    /** What is taken from now on goes over another connection. */
    void connected() {
        underWay.clear();
        waitsForChannel = false;
    }

    /** Whether a message is under way in fragments, of which the connection has some and not all. */
    boolean isInTheMiddle() {
        return !underWay.isEmpty();
    }

    /** Whether the channel has something that it has not sent. */
    boolean isBeingSent() {
        return spans.areUnderWay() || waitsForChannel;
    }

    /** Whether {@link #send} goes on when the channel is writable. */
    boolean waitsForChannel() {
        return waitsForChannel;
    }

    /** Changes with each part of a message under way that is taken. */
    long progress() {
        return underWay.progress();
    }

    /**
     * Writes what there is to a channel.
     *
     * @param counts     of the channel's loop
     * @param moderation of the connection
     * @param last       whether to stop when no message is in the middle, and to begin none
     */
    Sent send(Channel to, LoopCounters counts, WakeModeration moderation, boolean last) {
        // A handler that encrypts releases what it is given, and the channel keeps what becomes of it: the ring would never
        // be full.
        waitsForChannel = !to.isWritable() && !spans.areUnderWay();
        if (waitsForChannel) {
            endLooks(moderation);
            return Sent.WAITING;
        }
        channel = to;
        counters = counts;
        turnBytes = 0;
        boolean free;
        for (;;) {
            overflow.move(!last);
            free = spans.next() != null;
            if (last && !isInTheMiddle() || !free || turnBytes >= MAX_TURN || !ring.take(MAX_SPAN, this)) {
                break;
            }
        }
        channel = null;
        if (turnBytes > 0) {
            counts.flushed();
            to.flush();
        }
        return rest(free, !last, moderation);
    }

    /** Takes what there is, and sends it nowhere. */
    Sent discard() {
        channel = null;
        boolean free;
        do {
            overflow.move(true);
            free = spans.next() != null;
        } while (free && ring.take(ring.capacity(), this));
        return rest(free, true, null);
    }

    private Sent rest(boolean free, boolean begins, WakeModeration moderation) {
        if (!free && !spans.areThere()) {
            endLooks(moderation);
            return Sent.WAITING;
        }
        if (ring.hasCommitted()) {
            return Sent.MORE;
        }
        if (overflow.isWaiting(begins)) {
            endLooks(moderation);
            // Until the channel has sent something, if that is what keeps the ring full.
            if (spans.tellWhenFree()) {
                return Sent.WAITING;
            }
            // Or until a thread commits what it is writing: what waits would be sent behind it.
            return ring.tail() != ring.taken() && ring.sleep() ? Sent.ASLEEP : Sent.MORE;
        }
        boolean naps = moderation != null && moderation.naps(restFrames, restBytes);
        restFrames = 0;
        restBytes = 0;
        return (naps ? ring.nap(napBytes) : ring.sleep()) && !overflow.isWaiting(begins) ? Sent.ASLEEP : Sent.MORE;
    }

    /** Somebody else wakes the loop. */
    private static void endLooks(WakeModeration moderation) {
        if (moderation != null) {
            moderation.end();
        }
    }

    @Override
    public void set(long position, int offset, int length, int bytes, int frames) {
        if (channel == null) {
            spans.discard(position + length);
            return;
        }
        turnBytes += length;
        restFrames += frames;
        restBytes += length;
        counters.sent(frames, bytes);
        channel.write(spans.begin(offset, bytes, position + length), channel.voidPromise());
    }

    @Override
    public void fragment(int offset) {
        ByteBuffer frames = ring.buffer();
        long number = frames.getLong(offset + Frame.HEADER);
        if (frames.getInt(offset + 4) >>> 16 == Frame.FRAGMENT_ABORTED) {
            underWay.aborted(number);
        } else {
            underWay.fragment(number, frames.getInt(offset + Frame.HEADER + 8),
                    (frames.getInt(offset + Frame.HEADER + 12) & Fragments.FIRST) != 0,
                    frames.getInt(offset) - Fragments.HEADER);
        }
    }

    /** Whether there is nothing to take; then the producer of the next frame wakes the loop. */
    boolean rests() {
        return overflow.isEmpty() && !ring.hasCommitted() && ring.sleep() && overflow.isEmpty();
    }

    /** Whether there is nothing that nobody has taken. */
    boolean isEmpty() {
        return overflow.isEmpty() && ring.tail() == ring.taken();
    }

    void close() {
        ring.close();
    }
}
