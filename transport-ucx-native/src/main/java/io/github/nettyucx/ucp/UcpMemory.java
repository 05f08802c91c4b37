// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Memory that is registered with a context: peers that get its {@link #packRemoteKey() remote key} can read and write
 * it, and local operations on it need no registration of their own. Must be closed before the context, and not while
 * an operation uses it. Any thread, one at a time.
 *
 * <p>UCX 1.16 to 1.22 leave such a registration alone when an operation fails that was given its handle
 * ({@code ucp_request_memh_invalidate}). What they have registered themselves in their cache they invalidate; without the
 * cache they only end its registration.
 */
public final class UcpMemory implements AutoCloseable {

    private final UcpContext context;
    private final MemorySegment segment;
    private long address;

    /** @param owned {@code null} to have UCX allocate the memory */
    UcpMemory(UcpContext context, MemorySegment owned, long length) throws UcxException {
        this.context = context;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment params = arena.allocate(UcpLayouts.MemMapParams.SIZE, Long.BYTES);
            long mask = UcpConstants.UCP_MEM_MAP_PARAM_FIELD_LENGTH;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.MemMapParams.LENGTH, length);
            if (owned != null) {
                mask |= UcpConstants.UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
                params.set(ValueLayout.JAVA_LONG, UcpLayouts.MemMapParams.ADDRESS, owned.address());
            } else {
                mask |= UcpConstants.UCP_MEM_MAP_PARAM_FIELD_FLAGS;
                params.set(ValueLayout.JAVA_INT, UcpLayouts.MemMapParams.FLAGS, UcpConstants.UCP_MEM_MAP_ALLOCATE);
            }
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.MemMapParams.FIELD_MASK, mask);
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            UcpFunctions.check("Mapping " + length + " bytes of memory",
                    UcpFunctions.Memory.MEM_MAP, context.address(), params.address(), out.address());
            address = out.get(ValueLayout.JAVA_LONG, 0);
            context.retained();
            segment = owned != null ? owned : queryAllocated(arena).asSlice(0, length);
        }
    }

    private MemorySegment queryAllocated(Arena arena) throws UcxException {
        MemorySegment attr = arena.allocate(UcpLayouts.MemAttr.SIZE, Long.BYTES);
        attr.set(ValueLayout.JAVA_LONG, UcpLayouts.MemAttr.FIELD_MASK,
                UcpConstants.UCP_MEM_ATTR_FIELD_ADDRESS | UcpConstants.UCP_MEM_ATTR_FIELD_LENGTH);
        int status = (byte) UcpFunctions.call(UcpFunctions.Memory.MEM_QUERY, address, attr.address(), 0);
        if (status != UcsStatus.OK) {
            close();
        }
        UcsStatus.check("Asking for the address of allocated memory", status);
        return NativeMemory.segment(attr.get(ValueLayout.JAVA_LONG, UcpLayouts.MemAttr.ADDRESS),
                attr.get(ValueLayout.JAVA_LONG, UcpLayouts.MemAttr.LENGTH));
    }

    /** The {@code ucp_mem_h}, for {@link UcpRequestParam#setMemoryHandle}. */
    public long address() {
        if (address == 0) {
            throw new IllegalStateException("The memory is closed");
        }
        return address;
    }

    /**
     * The memory itself; its {@link MemorySegment#address()} is what peers need to know beside the key. If UCX
     * allocated it, it is gone when this is closed, and nothing checks that it isn't used after that.
     */
    public MemorySegment segment() {
        return segment;
    }

    /** What a peer needs for {@link UcpEndpoint#unpackRemoteKey}; some ten to hundred bytes. */
    public byte[] packRemoteKey() throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            // Not its successor ucp_memh_pack: asked for a remote key, that one ends the process as unsupported.
            MemorySegment buffer = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
            UcsStatus.check("Packing a remote key", (byte) UcpFunctions.call(
                    UcpFunctions.Memory.RKEY_PACK, context.address(), address(), buffer.address(), size.address(),
                    0, 0));
            long packed = buffer.get(ValueLayout.JAVA_LONG, 0);
            byte[] copy = NativeMemory.getBytes(packed, size.get(ValueLayout.JAVA_LONG, 0));
            UcpFunctions.call(UcpFunctions.Memory.RKEY_BUFFER_RELEASE, packed, 0, 0);
            return copy;
        }
    }

    @Override
    public void close() {
        long unmapped = address;
        if (unmapped == 0) {
            return;
        }
        address = 0;
        try {
            // Its status says only that the argument was none of UCX's.
            int status = (byte) UcpFunctions.call(UcpFunctions.Memory.MEM_UNMAP, context.address(), unmapped, 0);
            assert status == UcsStatus.OK : UcsStatus.string(status);
        } finally {
            context.released();
        }
    }
}
