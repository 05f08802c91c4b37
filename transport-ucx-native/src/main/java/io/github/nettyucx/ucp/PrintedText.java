// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.function.LongConsumer;

/**
 * Collects what a C function prints to a {@code FILE}.
 *
 * <p>{@link Linker#defaultLookup()} finds the C library's functions even where another allocator's replace them for all
 * C code, and either misreads the other's blocks. So {@code free} is looked for as C code's own calls are, in the
 * order of the process's global scope.
 */
final class PrintedText {
    private static final long RTLD_DEFAULT = 0;
    private static final MethodHandle DLSYM =
            UcpFunctions.SHORT.bindTo(Linker.nativeLinker().defaultLookup().findOrThrow("dlsym"));
    private static final MethodHandle OPEN_MEMSTREAM = bind("open_memstream");
    private static final MethodHandle FCLOSE = bind("fclose");
    private static final MethodHandle FREE = bind("free");

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
                UcpFunctions.call(FREE, address, 0, 0);
            }
        }
    }

    private static MethodHandle bind(String name) {
        try (Arena arena = Arena.ofConfined()) {
            long address = UcpFunctions.call(DLSYM, RTLD_DEFAULT, arena.allocateFrom(name).address(), 0);
            if (address == 0) {
                throw new UnsatisfiedLinkError("the process has no " + name);
            }
            return UcpFunctions.SHORT.bindTo(MemorySegment.ofAddress(address));
        }
    }
}
