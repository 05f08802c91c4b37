// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

/**
 * The word by which producers share a segment: how many places have been reserved, in the upper 16 bits, and where the next
 * one begins, in the lower 48. One fetch-and-add takes both a turn and a place. The turn wraps around.
 */
public final class OrderWord {
    /** As many turns as there are before they begin again; there cannot be more reservations under way. */
    public static final int TURNS = 1 << 16;

    private static final int SHIFT = 48;
    private static final int GENERATION_SHIFT = 32;
    private static final int GENERATIONS = 1 << 16;

    private OrderWord() {
    }

    /** Where the word lies: behind the segment, at the next offset that 8 divides. */
    public static long at(long capacity) {
        return capacity + Long.BYTES - 1 & -Long.BYTES;
    }

    public static long of(int turn, long position) {
        return (long) turn << SHIFT | position;
    }

    /** What to add, in order to reserve so many bytes. */
    public static long reserving(int length) {
        return of(1, length);
    }

    public static int turn(long word) {
        return (int) (word >>> SHIFT);
    }

    public static long position(long word) {
        return word & (1L << SHIFT) - 1;
    }

    /** What a producer tells the broker along with its bytes. */
    public static long notification(int turn, int generation, int request) {
        return (long) turn << SHIFT | (long) (generation % GENERATIONS) << GENERATION_SHIFT
                | Integer.toUnsignedLong(request);
    }

    /** Whether a notification is about the segment with this generation: memory is used for one after the other. */
    public static boolean isOf(int generation, long notification) {
        return (notification >>> GENERATION_SHIFT & GENERATIONS - 1) == generation % GENERATIONS;
    }

    public static int request(long notification) {
        return (int) notification;
    }
}
