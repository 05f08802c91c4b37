// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.NativeMemory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Atomic instructions on plain addresses. Whoever executes them, the peer's thread on memory that both attach, or the
 * owner's loop: it is the same instruction on the same memory, and so they are atomic among themselves and towards the
 * owner's own.
 */
final class Words {

    private static final MemorySegment ALL = NativeMemory.all();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private Words() {
    }

    static long getAndAdd(long address, long delta) {
        return (long) LONG.getAndAdd(ALL, address, delta);
    }

    /** @return what was there before */
    static long compareAndExchange(long address, long expected, long update) {
        return (long) LONG.compareAndExchange(ALL, address, expected, update);
    }
}
