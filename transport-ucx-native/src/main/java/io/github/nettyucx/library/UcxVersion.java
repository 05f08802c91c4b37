// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.util.Optional;

/**
 * A release of UCX.
 *
 * @param major   first number, 1 for every release so far
 * @param minor   second number, the one that decides about features
 * @param release third number
 */
public record UcxVersion(int major, int minor, int release) implements Comparable<UcxVersion> {
    /**
     * The oldest release that is supported. Older ones lack entry points, or abort the process on junk from the network.
     */
    public static final UcxVersion MINIMUM = new UcxVersion(1, 16, 0);

    private static final int NUMBERS = 3;
    private static final int MAX_DIGITS = 4;

    /**
     * Reads a version as {@code ucp_get_version_string()} gives it, such as {@code 1.22.0}; a suffix is ignored.
     *
     * @param text the text, not null
     * @return the version, or nothing when the text isn't one
     */
    public static Optional<UcxVersion> parse(String text) {
        // Not by a pattern: it is asked for while a first connection waits.
        int[] numbers = new int[NUMBERS];
        int end = 0;
        for (int i = 0; i < NUMBERS; i++) {
            int begin = i == 0 ? 0 : end + 1;
            if (i > 0 && (end == text.length() || text.charAt(end) != '.')) {
                return Optional.empty();
            }
            end = begin;
            while (end < text.length() && isDigit(text.charAt(end)) && end - begin < MAX_DIGITS) {
                numbers[i] = 10 * numbers[i] + text.charAt(end++) - '0';
            }
            if (end == begin) {
                return Optional.empty();
            }
        }
        return end < text.length() && isDigit(text.charAt(end)) ? Optional.empty()
                : Optional.of(new UcxVersion(numbers[0], numbers[1], numbers[2]));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Whether this release is {@link #MINIMUM} or later. */
    public boolean isSupported() {
        return compareTo(MINIMUM) >= 0;
    }

    @Override
    public int compareTo(UcxVersion other) {
        // Not by a Comparator: its lambdas would have classes made for them while a first connection waits.
        int order = Integer.compare(major, other.major);
        if (order == 0) {
            order = Integer.compare(minor, other.minor);
        }
        return order == 0 ? Integer.compare(release, other.release) : order;
    }

    @Override
    public String toString() {
        return major + "." + minor + "." + release;
    }
}
