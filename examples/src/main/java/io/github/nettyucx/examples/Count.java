// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a whole number within bounds from the command line. */
public abstract class Count implements ITypeConverter<Long> {
    private final long least;
    private final long most;

    private Count(long least, long most) {
        this.least = least;
        this.most = most;
    }

    @Override
    public Long convert(String text) {
        try {
            var number = Long.parseLong(text.strip());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Falls through to the same answer as a number out of range.
        }
        throw new TypeConversionException("'" + text + "' will not do. Expected a whole number from " + least + " to "
                + most + ".");
    }

    public static final class OfConnections extends Count {
        public OfConnections() {
            super(1, 100_000);
        }
    }

    public static final class OfIterations extends Count {
        public OfIterations() {
            super(1, 10_000_000_000L);
        }
    }

    public static final class OfWarmup extends Count {
        public OfWarmup() {
            super(0, 10_000_000_000L);
        }
    }

    public static final class OfNodes extends Count {
        public OfNodes() {
            super(2, 64);
        }
    }

    public static final class OfReplicas extends Count {
        public OfReplicas() {
            super(1, 5);
        }
    }

    public static final class OfThreads extends Count {
        public OfThreads() {
            super(1, 1024);
        }
    }
}
