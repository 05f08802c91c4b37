// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

/**
 * What consumers read of a partition without asking: whether its current segment is sealed, in the highest bit; the
 * generation of that segment, in the next 31; and the end of its readable bytes, in the lower 32. Little-endian.
 */
public final class SlotWord {
    public static final int BYTES = Long.BYTES;

    private static final int GENERATION_SHIFT = 32;
    private static final int GENERATION = Integer.MAX_VALUE;
    private static final long SEALED = 1L << 63;

    private SlotWord() {
    }

    public static long of(int generation, long readable, boolean sealed) {
        return (sealed ? SEALED : 0) | (long) (generation & GENERATION) << GENERATION_SHIFT | readable;
    }

    /** Whether the word is about the segment with this generation. */
    public static boolean isOf(int generation, long word) {
        return (word >>> GENERATION_SHIFT & GENERATION) == (generation & GENERATION);
    }

    public static long readable(long word) {
        return word & (1L << GENERATION_SHIFT) - 1;
    }
}
