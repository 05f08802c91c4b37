// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcpMemory;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/**
 * A run of native memory that is registered with UCX at once, for the links of one kind. Its parts are buffers; the
 * memory goes when the registration and the last of them have gone, whichever thread has that one.
 */
final class MemorySlab {

    /** What devices register: pages. */
    private static final int PAGE = 4096;

    private final ByteBuf memory;
    private final int offset;
    private final long address;
    private final int length;
    private final UcpMemory registration;
    private final Arena arena = Arena.ofConfined();
    private final long param;
    private boolean retired;

    /**
     * @param length in bytes
     * @throws IOException      if UCX cannot register it
     * @throws OutOfMemoryError if there is none
     */
    MemorySlab(LinkKind kind, int length) throws IOException {
        this.length = length;
        memory = UnpooledByteBufAllocator.DEFAULT.directBuffer(length + PAGE, length + PAGE);
        try {
            long start = BufferAddress.of(memory, 0, length + PAGE);
            offset = (int) (-start & PAGE - 1);
            address = start + offset;
            registration = UcxRuntime.register(kind, address, length);
        } catch (Throwable t) {
            arena.close();
            memory.release();
            throw t;
        }
        param = UcpRequestParam.allocateRegistered(arena);
        UcpRequestParam.changeMemoryHandle(param, registration.address());
    }

    long address() {
        return address;
    }

    int length() {
        return length;
    }

    /** Whether a buffer lies in it. An empty one lies nowhere. */
    boolean covers(long start, long bytes) {
        return Long.compareUnsigned(start - address, length - bytes) <= 0 && bytes > 0 && bytes <= length;
    }

    /** What operations on its memory are given: the address of a block of {@link UcpRequestParam}. */
    long param() {
        return param;
    }

    /** A part of it, which keeps it until it is released. */
    ByteBuf part(int start, int bytes) {
        return memory.retainedSlice(offset + start, bytes).clear();
    }

    /** A part of it for a buffer that {@linkplain #retain keeps it} itself. */
    ByteBuffer bytes(int start, int size) {
        return memory.nioBuffer(offset + start, size);
    }

    void retain() {
        memory.retain();
    }

    /** Any thread may call. */
    void release() {
        memory.release();
    }

    /** None of its parts is used for anything new. */
    void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    /** Whether nobody has a part of it. */
    boolean isFree() {
        return memory.refCnt() == 1;
    }

    /** Ends the registration. No operation may use it, and of the parts nobody needs it any more. */
    void close() {
        registration.close();
        arena.close();
        memory.release();
    }
}
