// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads one of an enum's constants from the command line, in any case, with an error message that lists them all. */
public abstract class Choice<E extends Enum<E>> implements ITypeConverter<E> {
    private final Class<E> type;

    protected Choice(Class<E> type) {
        this.type = type;
    }

    @Override
    public E convert(String text) {
        for (var constant : type.getEnumConstants()) {
            if (constant.toString().equals(text.strip().toLowerCase(Locale.ROOT))) {
                return constant;
            }
        }
        throw new TypeConversionException("'" + text + "' is not one of its values. Expected "
                + Arrays.stream(type.getEnumConstants()).map(E::toString).collect(Collectors.joining(", ")) + ".");
    }

    public static final class OfTransport extends Choice<TransportKind> {
        public OfTransport() {
            super(TransportKind.class);
        }
    }

    public static final class OfLane extends Choice<Lane> {
        public OfLane() {
            super(Lane.class);
        }
    }

    public static final class OfWaitMode extends Choice<WaitMode> {
        public OfWaitMode() {
            super(WaitMode.class);
        }
    }

    public static final class OfSecurity extends Choice<Security> {
        public OfSecurity() {
            super(Security.class);
        }
    }
}
