// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** One size, or the powers of two of a range, as in {@code 1..1m}. */
record Sizes(List<Integer> bytes) {
    private static final String RANGE = "..";

    /**
     * @throws IllegalArgumentException saying what is wrong with the text and what was expected
     */
    static Sizes parse(String text) {
        var dots = text.indexOf(RANGE);
        if (dots < 0) {
            return new Sizes(List.of(ByteSize.parse(text).bytes()));
        }
        var first = ByteSize.parse(text.substring(0, dots)).bytes();
        var last = ByteSize.parse(text.substring(dots + RANGE.length())).bytes();
        if (first > last) {
            throw new IllegalArgumentException("'" + text + "' is empty. Expected the smaller size first, as in 1..1m.");
        }
        var sizes = new ArrayList<Integer>();
        for (long size = Long.highestOneBit(first); size <= last; size *= 2) {
            if (size >= first) {
                sizes.add((int) size);
            }
        }
        if (sizes.isEmpty()) {
            throw new IllegalArgumentException("'" + text + "' contains no power of two. Expected a range like 1..1m.");
        }
        return new Sizes(List.copyOf(sizes));
    }

    static List<Integer> flatten(List<Sizes> lists) {
        return lists.stream().flatMap(sizes -> sizes.bytes.stream()).distinct().toList();
    }

    /** For picocli, whose error message is then the one of {@link #parse}. */
    static final class Converter implements ITypeConverter<Sizes> {
        @Override
        public Sizes convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
