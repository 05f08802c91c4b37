// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NativeCopyTest {
    private static final int AROUND = 64;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, NativeCopy.MIN_LENGTH, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 1_000_003})
    void whatIsCopiedIsThereAndNothingElse(int length) {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = new byte[length];
            new Random(length).nextBytes(bytes);
            MemorySegment source = arena.allocate(length + 1);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, source, 1, length);
            MemorySegment target = arena.allocate(length + 2L * AROUND);
            NativeCopy.copy(source.address() + 1, target.address() + AROUND, length);
            assertEquals(-1, MemorySegment.ofArray(bytes).mismatch(target.asSlice(AROUND, length)));
            assertEquals(-1, arena.allocate(AROUND).mismatch(target.asSlice(0, AROUND)));
            assertEquals(-1, arena.allocate(AROUND).mismatch(target.asSlice(AROUND + length)));
        }
    }
}
