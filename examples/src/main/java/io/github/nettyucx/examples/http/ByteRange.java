// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import java.util.regex.Pattern;

/**
 * The bytes of a file that a request asks for (RFC 9110, 14).
 *
 * @param first the offset of the first one
 * @param length how many
 */
record ByteRange(Kind kind, long first, long length) {
    enum Kind {
        /** All: there is no range, or one that does not have to be understood. */
        WHOLE,
        PART,
        /** A range without a single byte of this file. */
        UNSATISFIABLE
    }

    /** One range. Several at a time a server may ignore, and this one does. */
    private static final Pattern ONE =
            Pattern.compile("\\s*bytes\\s*=\\s*(\\d*)\\s*-\\s*(\\d*)\\s*", Pattern.CASE_INSENSITIVE);
    /** Digits that a long has room for, whatever they are. */
    private static final int MAX_DIGITS = 18;

    /**
     * @param header the request's Range field, or {@code null} if it has none
     * @param size of the file, in bytes
     */
    static ByteRange of(String header, long size) {
        var whole = new ByteRange(Kind.WHOLE, 0, size);
        if (header == null) {
            return whole;
        }
        var matcher = ONE.matcher(header);
        if (!matcher.matches() || matcher.group(1).isEmpty() && matcher.group(2).isEmpty()) {
            return whole;
        }
        if (matcher.group(1).isEmpty()) {
            return suffix(number(matcher.group(2)), whole);
        }
        var first = number(matcher.group(1));
        var last = matcher.group(2).isEmpty() ? Long.MAX_VALUE : number(matcher.group(2));
        if (last < first) {
            return whole;
        }
        return first >= size ? unsatisfiable() : part(first, Math.min(last, size - 1) - first + 1);
    }

    /** The last bytes, as many as asked for or as there are. Those of an empty file have no numbers to be told by. */
    private static ByteRange suffix(long length, ByteRange whole) {
        if (length == 0) {
            return unsatisfiable();
        }
        var taken = Math.min(length, whole.length);
        return taken == 0 ? whole : part(whole.length - taken, taken);
    }

    private static ByteRange part(long first, long length) {
        return new ByteRange(Kind.PART, first, length);
    }

    private static ByteRange unsatisfiable() {
        return new ByteRange(Kind.UNSATISFIABLE, 0, 0);
    }

    private static long number(String digits) {
        return digits.length() > MAX_DIGITS ? Long.MAX_VALUE : Long.parseLong(digits);
    }
}
