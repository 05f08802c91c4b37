// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    private static final Pattern FORMAT = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4})(?:\\D.*)?");

    /**
     * Reads a version as {@code ucp_get_version_string()} gives it, such as {@code 1.22.0}; a suffix is ignored.
     *
     * @param text the text, not null
     * @return the version, or nothing when the text isn't one
     */
    public static Optional<UcxVersion> parse(String text) {
        Matcher matcher = FORMAT.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(new UcxVersion(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(3))));
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
