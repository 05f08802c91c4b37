// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Locale;

/** Which threads gRPC handles calls and replies on, at both sides. */
enum CallExecutor {
    /** The event loops: {@code directExecutor()}. */
    DIRECT,
    /** What gRPC does when it is told nothing: a pool of threads that grows as it is needed. */
    DEFAULT;

    /** The name by which the command line knows it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
