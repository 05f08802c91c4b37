// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A number of bytes, written as {@code 16}, {@code 1k} or {@code 1m}; k, m and g are powers of 1024.
 *
 * @param bytes from 1 to {@link #MAX}
 */
public record ByteSize(int bytes) {
    /** A whole message lives in one buffer, which is indexed by an {@code int}. */
    public static final int MAX = 1 << 30;

    private static final Pattern FORM = Pattern.compile("(\\d{1,12})\\s*([kmg]?)(?:i?b)?");

    public ByteSize {
        if (bytes < 1 || bytes > MAX) {
            throw new IllegalArgumentException(outOfRange(Integer.toString(bytes)));
        }
    }

    /**
     * @throws IllegalArgumentException saying what is wrong with the text and what was expected
     */
    public static ByteSize parse(String text) {
        var matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' is not a size. Expected a number of bytes, for example 16, 1k or 1m.");
        }
        var unit = switch (matcher.group(2)) {
            case "k" -> 1L << 10;
            case "m" -> 1L << 20;
            case "g" -> 1L << 30;
            default -> 1L;
        };
        var bytes = Long.parseLong(matcher.group(1)) * unit;
        if (bytes < 1 || bytes > MAX) {
            throw new IllegalArgumentException(outOfRange(text));
        }
        return new ByteSize((int) bytes);
    }

    private static String outOfRange(String text) {
        return "'" + text + "' is out of range. Expected 1 byte to 1g, for example 16, 1k or 1m.";
    }

    /** For example {@code 16 B}, {@code 1 KiB}, {@code 1500 B}: never rounded. */
    @Override
    public String toString() {
        if (bytes % (1 << 30) == 0) {
            return (bytes >> 30) + " GiB";
        }
        if (bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
}
