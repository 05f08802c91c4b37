// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The allocator that the memory of UCX and of the C library comes from: the latter's own, or one that was preloaded.
 *
 * <p>{@link Linker#defaultLookup()} finds the C library's functions even where another allocator's replace them for all
 * C code, and either misreads the other's blocks. So {@code free} is looked for as C code's own calls are, in the
 * order of the process's global scope.
 */
final class ProcessAllocator {

    private static final long RTLD_DEFAULT = 0;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBC = LINKER.defaultLookup();
    private static final MethodHandle DLSYM = LINKER.downcallHandle(
            LIBC.findOrThrow("dlsym"), UcpFunctions.SHORT);
    private static final MethodHandle FREE = LINKER.downcallHandle(
            MemorySegment.ofAddress(find("free")), UcpFunctions.SHORT);

    private ProcessAllocator() {
    }

    static void free(long address) {
        UcpFunctions.call(FREE, address, 0, 0);
    }

    private static long find(String name) {
        try (Arena arena = Arena.ofConfined()) {
            long address = UcpFunctions.call(DLSYM, RTLD_DEFAULT, arena.allocateFrom(name).address(), 0);
            if (address == 0) {
                throw new UnsatisfiedLinkError("the process has no " + name);
            }
            return address;
        }
    }
}
