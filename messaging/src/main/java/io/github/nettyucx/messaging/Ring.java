// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Frames on their way out, in a ring of native memory: any number of threads put them in, one takes them out.
 * <p>
 * A producer reserves with one compare-and-set of the tail, writes its frame where it will be sent from, and commits by
 * writing the frame's length. The consumer takes what is committed and contiguous, and gives it back in the same order
 * when it has been sent. Positions are bytes since the ring was made; they only grow.
 * <p>
 * The consumer is asleep or awake, or naps. The producer that commits to a ring whose consumer is asleep is told to wake it,
 * once. Of one that naps, and looks again by itself, that is so when a frame is not a message or a part of one that can wait,
 * or when there is much to take.
 * <p>
 * A frame that does not fit before the end of the memory begins at its start; a {@link Frame#PAD} fills the rest.
 */
final class Ring {

    /** In bytes; a frame may take a quarter of it. */
    static final int MIN_CAPACITY = 4 * 1024;
    static final int MAX_CAPACITY = 1 << 30;

    /** Instead of a position: there is no room. */
    static final long FULL = -1;
    /** Instead of a position: nobody takes frames any more. */
    static final long CLOSED = -2;

    private static final VarHandle INT = handle(ValueLayout.JAVA_INT);
    private static final VarHandle LONG = handle(ValueLayout.JAVA_LONG);
    /** Added to the tail of a ring that has been closed: no reservation succeeds any more. */
    private static final long CLOSED_TAIL = 1L << 62;
    // The state of the consumer. It naps with any other, the position up to which messages do not wake it: a multiple of 8.
    private static final long ASLEEP = 0;
    private static final long AWAKE = 1;
    /** Two cache lines, because processors fetch them in pairs. */
    private static final int LINE = 128;

    private final MemorySegment memory;
    private final ByteBuffer buffer;
    private final int capacity;
    private final int mask;
    // Words of their own lines, behind the frames.
    private final long tailWord;
    private final long headWord;
    private final long seenHeadWord;
    private final long stateWord;
    private final Waiters waiters;

    /** The consumer's: up to which frames have been taken. */
    private long taken;

    private static VarHandle handle(ValueLayout layout) {
        return layout.varHandle();
    }

    /**
     * @param capacity in bytes: a power of two from 4 KiB to 1 GiB
     * @throws IllegalArgumentException if it is not
     */
    Ring(int capacity) {
        // Given back by the garbage collector: a producer that is late writes into memory, and never into somebody else's.
        this(checked(capacity), Arena.ofAuto().allocate(size(capacity), LINE));
    }

    /** @throws IllegalArgumentException if it is out of range */
    static int checked(int capacity) {
        if (capacity < MIN_CAPACITY || capacity > MAX_CAPACITY || Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException("capacity of a ring: " + capacity + " (expected: a power of two from "
                    + MIN_CAPACITY + " to " + MAX_CAPACITY + " bytes)");
        }
        return capacity;
    }

    /** How much memory a ring of that capacity needs, in bytes. */
    static long size(int capacity) {
        return capacity + 4L * LINE;
    }

    /** @param memory of {@link #size(int)} bytes, all of them 0 */
    Ring(int capacity, MemorySegment memory) {
        this.capacity = capacity;
        this.memory = memory;
        mask = capacity - 1;
        buffer = memory.isNative() ? memory.asSlice(0, capacity).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN) : null;
        waiters = new Waiters(capacity / 4);
        tailWord = capacity;
        headWord = capacity + LINE;
        seenHeadWord = capacity + 2L * LINE;
        stateWord = capacity + 3L * LINE;
    }

    int capacity() {
        return capacity;
    }

    /** The longest frame that can be reserved, in bytes. */
    int maxFrame() {
        return capacity / 4;
    }

    /** Where frames lie. */
    MemorySegment memory() {
        return memory;
    }

    /** The same. */
    ByteBuffer buffer() {
        return buffer;
    }

    int offset(long position) {
        return (int) position & mask;
    }

    // ------------------------------------------------------------------------------------------- producers

    /**
     * Reserves room for one frame. Who has reserved has to commit, and nothing behind the frame is sent before.
     *
     * @param length of the frame, in bytes, up to {@link #maxFrame()}
     * @return its position, or {@link #FULL}, or {@link #CLOSED}
     */
    long reserve(int length) {
        return reserve(length, false);
    }

    /** The same for a frame that was accepted before the ring was closed. */
    long reserveAccepted(int length) {
        return reserve(length, true);
    }

    private long reserve(int length, boolean accepted) {
        int size = Frame.aligned(length);
        for (;;) {
            long word = (long) LONG.getVolatile(memory, tailWord);
            long closed = word & CLOSED_TAIL;
            if (closed != 0 && !accepted) {
                return CLOSED;
            }
            long tail = word - closed;
            int left = capacity - offset(tail);
            int pad = size <= left ? 0 : left;
            long end = tail + pad + size;
            if (end - (long) LONG.getAcquire(memory, seenHeadWord) > capacity) {
                long head = (long) LONG.getVolatile(memory, headWord);
                if (end - head > capacity) {
                    return FULL;
                }
                LONG.setRelease(memory, seenHeadWord, head);
            }
            // What the head that was seen has freed is zeroed.
            if (LONG.compareAndSet(memory, tailWord, word, end + closed)) {
                if (pad != 0) {
                    int offset = offset(tail);
                    INT.set(memory, offset + 4L, Frame.head(Frame.PAD, 0));
                    INT.setRelease(memory, (long) offset, pad);
                }
                return tail + pad;
            }
        }
    }

    /**
     * Completes a frame that has been reserved and written.
     *
     * @param canWait whether a consumer that naps need not be woken for it
     * @return whether the caller has to wake the consumer
     */
    boolean commit(long position, int length, int kind, int type, boolean canWait) {
        int offset = offset(position);
        INT.set(memory, offset + 4L, Frame.head(kind, type));
        // Before we look whether the consumer is asleep; it looks at us after it has said so.
        INT.setVolatile(memory, (long) offset, length);
        return (long) LONG.getVolatile(memory, stateWord) != AWAKE && wake(canWait, position + length);
    }

    /** The same, where only a {@link Frame#MESSAGE} can wait. */
    boolean commit(long position, int length, int kind, int type) {
        return commit(position, length, kind, type, kind == Frame.MESSAGE);
    }

    /** @param canWait whether a consumer that naps is not woken for what ends at that position, if it does so soon enough */
    private boolean wake(boolean canWait, long end) {
        for (;;) {
            long state = (long) LONG.getVolatile(memory, stateWord);
            if (state == AWAKE || state != ASLEEP && canWait && end < state) {
                return false;
            }
            if (LONG.compareAndSet(memory, stateWord, state, AWAKE)) {
                return true;
            }
        }
    }

    /** Threads that wait for room. */
    Waiters waiters() {
        return waiters;
    }

    /** Whether a frame of that length could be reserved now. */
    boolean hasRoom(int length) {
        long tail = (long) LONG.getVolatile(memory, tailWord);
        int size = Frame.aligned(length);
        int left = capacity - offset(tail);
        return tail >= CLOSED_TAIL
                || tail + (size <= left ? size : left + size) - (long) LONG.getVolatile(memory, headWord) <= capacity;
    }

    /** The position behind everything that has been reserved. */
    long tail() {
        return (long) LONG.getVolatile(memory, tailWord) & CLOSED_TAIL - 1;
    }

    /** Up to which frames have been given back. */
    long head() {
        return (long) LONG.getVolatile(memory, headWord);
    }

    // ------------------------------------------------------------------------------------------- the consumer

    /** Up to which frames have been taken. */
    long taken() {
        return taken;
    }

    /**
     * Takes the frames that are committed and lie one behind the other.
     *
     * @param max  takes no more bytes than that, but for one frame
     * @param span is told where they are
     * @return whether there are any
     */
    boolean take(int max, Span span) {
        long begin = taken;
        int offset = offset(begin);
        // Behind what has not been given back lies what was taken before.
        int unfreed = (int) (begin - head());
        if (unfreed == capacity) {
            return false;
        }
        int room = Math.min(max, capacity - Math.max(offset, unfreed));
        int length = 0;
        int frames = 0;
        int absent = 0;
        while (length == 0 || length < room) {
            int frame = (int) INT.getAcquire(memory, (long) offset + length);
            if (frame == 0) {
                break;
            }
            int size = Frame.aligned(frame);
            if (length > 0 && length + size > room) {
                break;
            }
            length += size;
            int head = (int) INT.get(memory, (long) offset + length - size + 4);
            if (head == Frame.head(Frame.PAD, 0)) {
                absent = size - Frame.HEADER;
                break;
            }
            if (Frame.isOfFragments(head)) {
                span.fragment(offset + length - size);
            }
            frames++;
        }
        if (length == 0) {
            return false;
        }
        taken = begin + length;
        span.set(begin, offset, length, length - absent, frames);
        return true;
    }

    /** Whether the frame that would be taken next is committed. */
    boolean hasCommitted() {
        return taken - head() < capacity && (int) INT.getVolatile(memory, (long) offset(taken)) != 0;
    }

    /**
     * Gives back what has been taken, in order. Whoever calls has to see to it that nobody else does at the same time.
     *
     * @param end up to where
     */
    void free(long end) {
        long head = (long) LONG.get(memory, headWord);
        int offset = offset(head);
        int length = (int) (end - head);
        int first = Math.min(length, capacity - offset);
        // A frame that is reserved there has no length until it is committed.
        memory.asSlice(offset, first).fill((byte) 0);
        memory.asSlice(0, length - first).fill((byte) 0);
        LONG.setVolatile(memory, headWord, end);
        waiters.freed(length, end == tail());
    }

    /**
     * Says that the consumer goes to sleep.
     *
     * @return whether it does; otherwise there is something to take, or a producer is about to wake it
     */
    boolean sleep() {
        return rest(ASLEEP);
    }

    /**
     * The same of a consumer that will look again by itself, soon.
     *
     * @param bytes messages of fewer bytes do not wake it; a multiple of 8, more than 0, less than the capacity
     */
    boolean nap(int bytes) {
        return rest(taken + bytes);
    }

    private boolean rest(long state) {
        LONG.setVolatile(memory, stateWord, state);
        return !hasCommitted() || !LONG.compareAndSet(memory, stateWord, state, AWAKE);
    }

    /** Whether the consumer naps. Any thread may call. */
    boolean naps() {
        return (long) LONG.getVolatile(memory, stateWord) > AWAKE;
    }

    /** Takes over the waking of the consumer: whether it was asleep, or napped. */
    boolean wake() {
        return wake(false, 0);
    }

    /** Any thread may call. */
    boolean isClosed() {
        return (long) LONG.getVolatile(memory, tailWord) >= CLOSED_TAIL;
    }

    /** No frame can be reserved any more; those that have been are still committed. Threads that wait go on. */
    void close() {
        for (;;) {
            long tail = (long) LONG.getVolatile(memory, tailWord);
            if (tail >= CLOSED_TAIL || LONG.compareAndSet(memory, tailWord, tail, tail + CLOSED_TAIL)) {
                waiters.wakeAll();
                return;
            }
        }
    }

    /** What {@link #take} has found. */
    interface Span {

        /**
         * @param position of the first frame
         * @param offset   of the first frame in the memory
         * @param length   of all, in positions
         * @param bytes    that are to be sent: not those that a {@link Frame#PAD} stands for
         * @param frames   how many, without a {@link Frame#PAD}
         */
        void set(long position, int offset, int length, int bytes, int frames);

        /** Before that, of each frame of a message in fragments: where it is in the memory. */
        default void fragment(int offset) {
        }
    }
}
