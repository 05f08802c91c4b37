// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;

/** What {@code malloc} has handed out, to UCX and to the JVM, except for direct buffers. */
final class NativeHeap {

    /** {@code struct mallinfo2} of glibc. */
    private static final StructLayout INFO = MemoryLayout.structLayout(
            size("arena"), size("ordblks"), size("smblks"), size("hblks"), size("hblkhd"), size("usmblks"),
            size("fsmblks"), size("uordblks"), size("fordblks"), size("keepcost"));

    private static final MethodHandle MALLINFO2 = Linker.nativeLinker().downcallHandle(
            SymbolLookup.loaderLookup().or(Linker.nativeLinker().defaultLookup()).findOrThrow("mallinfo2"),
            FunctionDescriptor.of(INFO));

    private static final int SAMPLES = 40;
    private static final long SAMPLE_MILLIS = 100;

    private NativeHeap() {
    }

    private static ValueLayout.OfLong size(String name) {
        return ValueLayout.JAVA_LONG.withName(name);
    }

    /**
     * The least that is in use within some seconds: compilation and garbage collection take 10 MB and more for a time.
     *
     * @param enough ends the wait when no more than this is in use, in bytes
     * @return in bytes
     */
    static long settled(long enough) throws InterruptedException {
        System.gc();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < SAMPLES && least > enough; i++) {
            Thread.sleep(SAMPLE_MILLIS);
            least = Math.min(least, used());
        }
        return least;
    }

    private static long used() {
        long directBuffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
        return allocated() - directBuffers;
    }

    private static long allocated() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) MALLINFO2.invokeExact((SegmentAllocator) arena);
            return info.get(ValueLayout.JAVA_LONG, INFO.byteOffset(groupElement("uordblks")))
                    + info.get(ValueLayout.JAVA_LONG, INFO.byteOffset(groupElement("hblkhd")));
        } catch (Throwable t) {
            throw new AssertionError("mallinfo2 failed", t);
        }
    }
}
