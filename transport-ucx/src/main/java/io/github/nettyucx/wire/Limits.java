// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/** What two sides may announce to each other, and what a message costs. */
public final class Limits {

    /**
     * Smallest and largest window, in bytes. The window is the credit that the peer starts with, and so the most that a
     * receiver has to keep of it.
     */
    public static final int MIN_WINDOW = 4 * 1024;
    public static final int MAX_WINDOW = 128 * 1024 * 1024;

    /** Smallest size of the largest message, in bytes; the largest is the window. */
    public static final int MIN_MAX_MESSAGE = 1;

    /** What a message costs beside its bytes, in bytes of credit: bounds how many small ones a receiver has to keep. */
    public static final int MESSAGE_CHARGE = 64;

    private Limits() {
    }

    /** Whether a side may announce these, both in bytes. */
    public static boolean allow(int window, int maxMessage) {
        return window >= MIN_WINDOW && window <= MAX_WINDOW && maxMessage >= MIN_MAX_MESSAGE && maxMessage <= window;
    }
}
