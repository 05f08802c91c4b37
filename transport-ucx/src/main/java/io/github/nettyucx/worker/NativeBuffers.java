// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;

/** Buffers that UCX and the kernel can write to, whatever the application's allocator takes for a direct buffer. */
public final class NativeBuffers {

    private NativeBuffers() {
    }

    /**
     * A buffer of the application's allocator. One that gives something else, such as memory of the heap, is passed over,
     * and Netty's own takes its place.
     *
     * @return a buffer in one piece of native memory, with room for so many bytes
     */
    public static ByteBuf allocate(ByteBufAllocator allocator, int length) {
        ByteBuf buffer = allocator.directBuffer(length);
        if (isUsable(buffer, length)) {
            return buffer;
        }
        buffer.release();
        return PooledByteBufAllocator.DEFAULT.directBuffer(length);
    }

    /**
     * Such a buffer with a copy of what can be read of the source, which stays as it is.
     *
     * @throws RuntimeException what the source throws if its bytes cannot be had, as when a part of it has been released
     */
    public static ByteBuf copy(ByteBufAllocator allocator, ByteBuf source) {
        int length = source.readableBytes();
        ByteBuf copy = allocate(allocator, length);
        try {
            return copy.writeBytes(source, source.readerIndex(), length);
        } catch (Throwable t) {
            copy.release();
            throw t;
        }
    }

    /** Whether it is one piece of native memory, and has the room. */
    public static boolean isUsable(ByteBuf buffer, int length) {
        return BufferAddress.isContiguous(buffer) && buffer.writableBytes() >= length;
    }
}
