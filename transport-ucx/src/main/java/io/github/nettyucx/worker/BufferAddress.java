// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;

import java.lang.foreign.MemorySegment;

/** Where the bytes of a buffer lie in memory. */
public final class BufferAddress {

    private BufferAddress() {
    }

    /** Whether the buffer is one run of native memory, so that UCX can use it as it is. */
    public static boolean isContiguous(ByteBuf buffer) {
        return buffer.hasMemoryAddress() || buffer.isDirect() && buffer.nioBufferCount() == 1;
    }

    /**
     * The address of the byte at {@code index} of a {@linkplain #isContiguous contiguous} buffer, valid until the
     * buffer is released or reallocated.
     *
     * @throws IllegalArgumentException if the buffer is memory of the heap, of which a native call must get no address
     */
    public static long of(ByteBuf buffer, int index, int length) {
        if (buffer.hasMemoryAddress()) {
            return buffer.memoryAddress() + index;
        }
        // Without sun.misc.Unsafe Netty's buffers keep their address to themselves; their ByteBuffers do not.
        MemorySegment bytes = MemorySegment.ofBuffer(buffer.internalNioBuffer(index, length));
        if (!bytes.isNative()) {
            throw new IllegalArgumentException("no native memory in one piece: " + buffer);
        }
        return bytes.address();
    }
}
