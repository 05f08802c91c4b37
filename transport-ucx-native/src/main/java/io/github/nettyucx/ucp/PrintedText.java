// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Collects what a C function prints to a {@code FILE}. */
final class PrintedText {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle OPEN_MEMSTREAM =
            bind("open_memstream", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FCLOSE = bind("fclose", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

    /** Prints to an open {@code FILE}. */
    interface Printer {
        void print(long file) throws Throwable;
    }

    private PrintedText() {
    }

    static String of(Printer printer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
            long file = (long) OPEN_MEMSTREAM.invokeExact(text.address(), size.address());
            if (file == 0) {
                throw new OutOfMemoryError("open_memstream failed");
            }
            try {
                printer.print(file);
            } finally {
                // The text and its size are where they belong only when the stream has been closed.
                int ignored = (int) FCLOSE.invokeExact(file);
            }
            long address = text.get(ValueLayout.JAVA_LONG, 0);
            try {
                return NativeMemory.getString(address);
            } finally {
                ProcessAllocator.free(address);
            }
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    private static MethodHandle bind(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(LINKER.defaultLookup().find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name)), descriptor);
    }
}
