// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads one of an enum's constants from the command line, in any case, with an error message that lists them all.
 *
 * @param type an enum
 */
record Choice<E>(Class<E> type) implements ITypeConverter<E> {
    @Override
    public E convert(String text) {
        for (var constant : type.getEnumConstants()) {
            if (constant.toString().equals(text.strip().toLowerCase(Locale.ROOT))) {
                return constant;
            }
        }
        throw new TypeConversionException("'" + text + "' is not one of its values. Expected "
                + Arrays.stream(type.getEnumConstants()).map(Object::toString).collect(Collectors.joining(", ")) + ".");
    }
}
