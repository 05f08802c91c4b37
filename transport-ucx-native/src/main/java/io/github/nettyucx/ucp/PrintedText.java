// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.function.LongConsumer;

/** Collects what a C function prints to a {@code FILE}. */
final class PrintedText {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle OPEN_MEMSTREAM = bind("open_memstream");
    private static final MethodHandle FCLOSE = bind("fclose");

    private PrintedText() {
    }

    /** @param printer prints to the open {@code FILE} that it is given */
    static String of(LongConsumer printer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
            long file = UcpFunctions.call(OPEN_MEMSTREAM, text.address(), size.address(), 0);
            if (file == 0) {
                throw new OutOfMemoryError("open_memstream failed");
            }
            try {
                printer.accept(file);
            } finally {
                // The text and its size are where they belong only when the stream has been closed.
                UcpFunctions.call(FCLOSE, file, 0, 0);
            }
            long address = text.get(ValueLayout.JAVA_LONG, 0);
            try {
                return NativeMemory.getString(address);
            } finally {
                ProcessAllocator.free(address);
            }
        }
    }

    private static MethodHandle bind(String name) {
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name)), UcpFunctions.SHORT);
    }
}
