// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * Copies by {@code memcpy}, which copies what does not fit into a processor's nearest cache faster than the JVM does:
 * 64 KiB in 0.53 µs where the JVM takes 0.71 (AMD EPYC of family 26); 16 KiB take the JVM less. Any thread may call.
 */
public final class NativeCopy {
    /** From this length on it pays, in bytes. */
    public static final int MIN_LENGTH = 32 * 1024;

    /** At a time: the garbage collector waits for a call. */
    private static final int PIECE = 64 * 1024;

    private static final MethodHandle MEMCPY = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("memcpy"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));

    private NativeCopy() {
    }

    /** @param length in bytes; the two areas must not overlap */
    public static void copy(long from, long to, long length) {
        try {
            for (long done = 0; done < length; done += PIECE) {
                long end = (long) MEMCPY.invokeExact(to + done, from + done, Math.min(PIECE, length - done));
                assert end == to + done;
            }
        } catch (Throwable t) {
            throw SocketFunctions.rethrow(t);
        }
    }
}
