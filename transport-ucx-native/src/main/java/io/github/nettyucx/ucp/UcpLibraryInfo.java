// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.library.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What the loaded UCX says about itself.
 *
 * @param version       such as "1.22.0"
 * @param maxThreadMode what a worker can have at most
 */
public record UcpLibraryInfo(int major, int minor, int release, String version, UcsThreadMode maxThreadMode) {

    /**
     * Asks the library. Any thread.
     *
     * @throws UnsatisfiedLinkError if there is no usable UCX
     */
    public static UcpLibraryInfo query() throws UcxException {
        UcxLibrary.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment major = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment minor = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment release = arena.allocate(ValueLayout.JAVA_INT);
            UcpFunctions.call(UcpFunctions.GET_VERSION, major.address(), minor.address(), release.address());
            MemorySegment attr = arena.allocate(UcpLayouts.LibAttr.SIZE, Long.BYTES);
            attr.set(ValueLayout.JAVA_LONG, UcpLayouts.LibAttr.FIELD_MASK,
                    UcpConstants.UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL);
            UcpFunctions.check("Asking UCX for its attributes", UcpFunctions.LIB_QUERY, attr.address(), 0, 0);
            return new UcpLibraryInfo(
                    major.get(ValueLayout.JAVA_INT, 0),
                    minor.get(ValueLayout.JAVA_INT, 0),
                    release.get(ValueLayout.JAVA_INT, 0),
                    NativeMemory.getString(UcpFunctions.call(UcpFunctions.GET_VERSION_STRING, 0, 0, 0)),
                    UcsThreadMode.of(attr.get(ValueLayout.JAVA_INT, UcpLayouts.LibAttr.MAX_THREAD_LEVEL)));
        }
    }
}
