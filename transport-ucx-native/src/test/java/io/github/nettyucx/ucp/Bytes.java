// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/** Native buffers with contents that tell whether something was lost or mixed up. */
final class Bytes {

    private Bytes() {
    }

    static MemorySegment random(Arena arena, int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        MemorySegment segment = arena.allocate(Math.max(size, 1), 64);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, size);
        return segment;
    }

    static byte[] of(MemorySegment segment, long size) {
        return segment.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
    }
}
