// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What event loops have sent to one peer and the ring has not taken: there was no room, or it must not begin yet. Any event
 * loop puts frames in; the ring's consumer moves them into the ring, and what one loop has sent keeps its order.
 */
final class Overflow {

    private final Peer peer;
    private final Node node;
    private final Ring ring;
    /** Go into the ring as soon as there is room. */
    private final ConcurrentLinkedQueue<Slot> frames = new ConcurrentLinkedQueue<>();
    /**
     * Messages in fragments, each of them whole, that must not {@linkplain Peer#isLeaving() begin yet}; and what loops have
     * sent behind them.
     */
    private final ConcurrentLinkedQueue<Slot> later = new ConcurrentLinkedQueue<>();
    private final SlotMemory memory;
    /** Of all that has been given room, or is being given it, and has not been moved. */
    private final AtomicLong bytes = new AtomicLong();

    Overflow(Peer peer, Node node, Ring ring) {
        this.peer = peer;
        this.node = node;
        this.ring = ring;
        memory = new SlotMemory(ring.capacity());
    }

    // ------------------------------------------------------------------------------------------- event loops

    /**
     * Room for a frame.
     *
     * @throws MessagingException.RingFull if too much waits already
     */
    Slot add(int length) {
        if (bytes.addAndGet(length) > node.settings().overflow()) {
            bytes.addAndGet(-length);
            throw new MessagingException.RingFull("there is no room in the ring to node " + peer.id()
                    + ", an event loop must not wait, and " + node.settings().overflow()
                    + " bytes wait already: slow down, or send from another thread");
        }
        return slot(length);
    }

    /** The same without a limit. Any thread may call. */
    Slot addAnyway(int length) {
        bytes.addAndGet(length);
        return slot(length);
    }

    /** Of bytes that have been counted. */
    private Slot slot(int length) {
        try {
            Slot slot = new Slot();
            slot.memory = memory.take(length);
            slot.position = Peer.NO_TICKET;
            slot.length = length;
            node.counters().overflowed.increment();
            return slot;
        } catch (Throwable e) {
            bytes.addAndGet(-length);
            throw e;
        }
    }

    /** Completes a frame, or a whole message of which it is the first. */
    void commit(Slot slot) {
        // Parts of a message that has begun are not held up by others that have not: those may wait for its end.
        boolean behind = !Frame.isOfFragments(Frame.head(slot.kind, slot.type)) && !later.isEmpty();
        (behind || slot.waits ? later : frames).add(slot);
    }

    /** Gives up a message that has not been committed, of which it is the first frame. */
    void drop(Slot first) {
        for (Slot slot = first; slot != null; slot = slot.next) {
            bytes.addAndGet(-slot.length);
            memory.give(slot.memory);
        }
    }

    /** Whether a message that begins now has to wait though there is room. */
    boolean holdsUp() {
        return peer.isLeaving() || !later.isEmpty();
    }

    /** Whether what a loop sends now may go straight into the ring. */
    boolean isEmpty() {
        // In this order: from there they go here.
        return bytes.get() == 0 || later.isEmpty() && frames.isEmpty();
    }

    /** The same for a further part of a message. */
    boolean isEmptyForParts() {
        return frames.isEmpty();
    }

    // ------------------------------------------------------------------------------------------- the consumer

    /** Moves what there is room for. @param begins whether a message may begin; see {@link Peer#isLeaving()} */
    void move(boolean begins) {
        Slot first;
        while (begins && (first = later.peek()) != null) {
            for (Slot slot = first; slot != null; slot = slot.next) {
                frames.add(slot);
            }
            later.poll();
        }
        while ((first = frames.peek()) != null) {
            long position = ring.reserveAccepted(first.length);
            if (position < 0) {
                return;
            }
            MemorySegment.copy(first.memory, Frame.HEADER, ring.memory(), ring.offset(position) + Frame.HEADER,
                    first.length - Frame.HEADER);
            ring.commit(position, first.length, first.kind, first.type);
            if (first.ends) {
                peer.outgoing().ended();
            }
            frames.poll();
            bytes.addAndGet(-first.length);
            memory.give(first.memory);
        }
    }

    /** Whether there is something that goes when there is room. */
    boolean isWaiting(boolean begins) {
        return !frames.isEmpty() || begins && !later.isEmpty();
    }
}
