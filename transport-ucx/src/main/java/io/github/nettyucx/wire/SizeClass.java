// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/** Of a message, by its bytes: each class but the last goes to eight times the one before it. */
public enum SizeClass {
    UP_TO_64(64),
    UP_TO_512(512),
    UP_TO_4K(4 * 1024),
    UP_TO_32K(32 * 1024),
    UP_TO_256K(256 * 1024),
    LARGER(Integer.MAX_VALUE);

    private static final SizeClass[] CLASSES = values();

    private final int limit;

    SizeClass(int limit) {
        this.limit = limit;
    }

    /** The largest message of the class, in bytes. */
    public int limit() {
        return limit;
    }

    /**
     * @param length at least 1
     */
    static SizeClass of(int length) {
        // Bits of length - 1: up to 6 are 64 bytes, and each three further ones a class.
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(length - 1);
        return CLASSES[Math.clamp((bits - 4) / 3, 0, CLASSES.length - 1)];
    }
}
