// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;

/**
 * Blocks of {@code ucp_request_param_t}, which every {@code nbx} call takes. A block is read during the call only, so
 * one can serve any number of calls; it is best filled once. A block is for one thread at a time.
 */
public final class UcpRequestParam {

    /** Bytes of a block. */
    public static final int SIZE = UcpLayouts.RequestParam.SIZE;

    public static final int OP_ATTR_FIELD_DATATYPE = UcpConstants.UCP_OP_ATTR_FIELD_DATATYPE;
    public static final int OP_ATTR_FIELD_FLAGS = UcpConstants.UCP_OP_ATTR_FIELD_FLAGS;
    public static final int OP_ATTR_FIELD_REPLY_BUFFER = UcpConstants.UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    public static final int OP_ATTR_FIELD_MEMORY_TYPE = UcpConstants.UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    public static final int OP_ATTR_FIELD_MEMH = UcpConstants.UCP_OP_ATTR_FIELD_MEMH;

    /** Data type: {@code count} buffers, listed in an array of {@link UcpIov} at the address given as buffer. */
    public static final long DATATYPE_IOV = UcpConstants.UCP_DATATYPE_IOV;

    private UcpRequestParam() {
    }

    /** Allocates a zeroed block: contiguous bytes, no flags. */
    public static long allocate(Arena arena) {
        return arena.allocate(SIZE, Long.BYTES).address();
    }

    /**
     * Allocates a block.
     *
     * @param opAttrMask {@code OP_ATTR_*} bits. {@link #OP_ATTR_FIELD_FLAGS} makes {@code flags} count; other fields
     *                   named here must be set before use, with the setters, which add their bit themselves
     * @param flags      flags of the operation that the block is for
     */
    public static long allocate(Arena arena, long opAttrMask, int flags) {
        long param = allocate(arena);
        NativeMemory.putInt(param + UcpLayouts.RequestParam.OP_ATTR_MASK, Math.toIntExact(opAttrMask));
        NativeMemory.putInt(param + UcpLayouts.RequestParam.FLAGS, flags);
        return param;
    }

    /** Sets the flags of the operation, which are another set for each kind. */
    public static void setFlags(long param, int flags) {
        NativeMemory.putInt(param + UcpLayouts.RequestParam.FLAGS, flags);
        addAttribute(param, OP_ATTR_FIELD_FLAGS);
    }

    /** Sets the data type: {@link #DATATYPE_IOV}, or one made by {@link #contiguous}. */
    public static void setDatatype(long param, long datatype) {
        NativeMemory.putLong(param + UcpLayouts.RequestParam.DATATYPE, datatype);
        addAttribute(param, OP_ATTR_FIELD_DATATYPE);
    }

    /** The data type in which {@code count} means elements of {@code elementSize} bytes each. */
    public static long contiguous(long elementSize) {
        return elementSize << UcpConstants.UCP_DATATYPE_SHIFT | UcpConstants.UCP_DATATYPE_CONTIG;
    }

    /** Sets where an atomic operation writes the previous value. */
    public static void setReplyBuffer(long param, long address) {
        NativeMemory.putLong(param + UcpLayouts.RequestParam.REPLY_BUFFER, address);
        addAttribute(param, OP_ATTR_FIELD_REPLY_BUFFER);
    }

    /** Says that the buffer is ordinary memory, which saves UCX from finding that out. */
    public static void setHostMemory(long param) {
        NativeMemory.putInt(param + UcpLayouts.RequestParam.MEMORY_TYPE, UcpConstants.UCS_MEMORY_TYPE_HOST);
        addAttribute(param, OP_ATTR_FIELD_MEMORY_TYPE);
    }

    /**
     * Allocates a block for ordinary memory that is registered. Its handle must be set before the first call, and as
     * often as it changes: {@link #changeMemoryHandle}.
     */
    public static long allocateRegistered(Arena arena) {
        long param = allocate(arena, OP_ATTR_FIELD_MEMH, 0);
        setHostMemory(param);
        return param;
    }

    /**
     * Sets the registration of the buffer, {@link UcpMemory#address()}, which must cover it. With data type
     * {@link #DATATYPE_IOV} it must cover all the buffers. UCX checks neither, and takes 0 for an address: a block with
     * a handle is for registered memory only.
     */
    public static void setMemoryHandle(long param, long memory) {
        changeMemoryHandle(param, memory);
        addAttribute(param, OP_ATTR_FIELD_MEMH);
    }

    /**
     * As {@link #setMemoryHandle} on a block that has been given a handle before, or that was allocated for it: nothing
     * but the handle is written, which costs no more than a store.
     */
    public static void changeMemoryHandle(long param, long memory) {
        assert memory != 0;
        NativeMemory.putLong(param + UcpLayouts.RequestParam.MEMH, memory);
    }

    private static void addAttribute(long param, int attribute) {
        long mask = param + UcpLayouts.RequestParam.OP_ATTR_MASK;
        NativeMemory.putInt(mask, NativeMemory.getInt(mask) | attribute);
    }
}
