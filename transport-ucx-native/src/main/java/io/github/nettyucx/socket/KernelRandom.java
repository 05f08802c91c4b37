// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Random numbers that nobody can guess, from {@code getrandom(2)}. Any thread may call. */
public final class KernelRandom {
    /** The kernel gives as many at once, whatever happens. */
    private static final int CHUNK = 256;

    private KernelRandom() {
    }

    public static void fill(byte[] bytes) {
        CallState state = CallState.current();
        for (int done = 0; done < bytes.length; done += CHUNK) {
            int length = Math.min(CHUNK, bytes.length - done);
            MemorySegment.copy(draw(state, length), JAVA_BYTE, CallState.STRUCT, bytes, done, length);
        }
    }

    public static long nextLong() {
        CallState state = CallState.current();
        return draw(state, Long.BYTES).get(JAVA_LONG, CallState.STRUCT);
    }

    public static int nextInt() {
        CallState state = CallState.current();
        return draw(state, Integer.BYTES).get(JAVA_INT, CallState.STRUCT);
    }

    private static MemorySegment draw(CallState state, int length) {
        for (int done = 0; done < length;) {
            int n = SocketFunctions.getrandom(state, state.address(CallState.STRUCT) + done, length - done);
            if (n < 0 && n != -Errno.EINTR) {
                throw new IllegalStateException("getrandom failed: " + Errno.text(-n));
            }
            done += Math.max(0, n);
        }
        return state.memory;
    }
}
