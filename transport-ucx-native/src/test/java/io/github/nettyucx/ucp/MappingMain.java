// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Maps memory and unmaps it, and prints by how much that lets C's heap grow. */
final class MappingMain {

    static final int ROUNDS = 1000;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MALLINFO = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("mallinfo2"), FunctionDescriptor.of(MemoryLayout.structLayout(
                    MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG))));
    private static final int HBLKHD = 4;
    private static final int UORDBLKS = 7;

    private MappingMain() {
    }

    public static void main(String[] arguments) throws Throwable {
        for (Links links : Links.values()) {
            try (UcpContext context = links.context(false, UcpFeature.TAG); Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(65_536, 4096);
                // Loads classes, and fills what UCX keeps for the next time.
                mapAndUnmap(context, memory);
                inUse();

                long before = inUse();
                mapAndUnmap(context, memory);
                System.out.println(links.transport() + " left " + (inUse() - before));

                UcpMemory[] mapped = new UcpMemory[ROUNDS];
                before = inUse();
                for (int i = 0; i < ROUNDS; i++) {
                    mapped[i] = context.map(memory.address(), memory.byteSize());
                }
                System.out.println(links.transport() + " held " + (inUse() - before));
                for (UcpMemory one : mapped) {
                    one.close();
                }
            }
        }
    }

    private static void mapAndUnmap(UcpContext context, MemorySegment memory) throws UcxException {
        for (int i = 0; i < ROUNDS; i++) {
            context.map(memory.address(), memory.byteSize()).close();
        }
    }

    /** What C code has allocated and not freed, in bytes. */
    private static long inUse() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) MALLINFO.invokeExact((SegmentAllocator) arena);
            return info.getAtIndex(ValueLayout.JAVA_LONG, HBLKHD) + info.getAtIndex(ValueLayout.JAVA_LONG, UORDBLKS);
        }
    }
}
