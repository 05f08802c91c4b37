// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The allocator that the memory of UCX and of the C library comes from: the latter's own, or one that was preloaded.
 *
 * <p>{@link Linker#defaultLookup()} finds the C library's functions even where another allocator's replace them for all
 * C code, and either misreads the other's blocks. So they are looked for as C code's own calls are, in the order of the
 * process's global scope.
 */
final class ProcessAllocator {

    private static final long RTLD_DEFAULT = 0;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBC = LINKER.defaultLookup();
    private static final MethodHandle DLSYM = LINKER.downcallHandle(
            LIBC.findOrThrow("dlsym"), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FREE = LINKER.downcallHandle(
            MemorySegment.ofAddress(find("free")), FunctionDescriptor.ofVoid(JAVA_LONG));
    /** {@code null} if it is another allocator's, as that of a tool which replaces {@code malloc} and little else. */
    private static final MethodHandle USABLE_SIZE = isReplaced("malloc_usable_size") != isReplaced("malloc") ? null
            : LINKER.downcallHandle(MemorySegment.ofAddress(find("malloc_usable_size")),
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));

    private ProcessAllocator() {
    }

    static void free(long address) {
        try {
            FREE.invokeExact(address);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * How many bytes a block has. That is what was asked for, and what the allocator has rounded it up by.
     *
     * @return 0 if that is not known
     */
    static long usableSize(long address) {
        if (USABLE_SIZE == null) {
            return 0;
        }
        try {
            return (long) USABLE_SIZE.invokeExact(address);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    private static boolean isReplaced(String name) {
        return find(name) != LIBC.findOrThrow(name).address();
    }

    private static long find(String name) {
        try (Arena arena = Arena.ofConfined()) {
            long address = (long) DLSYM.invokeExact(RTLD_DEFAULT, arena.allocateFrom(name).address());
            if (address == 0) {
                throw new UnsatisfiedLinkError("the process has no " + name);
            }
            return address;
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }
}
