// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.socket.NativeCopy;
import io.github.nettyucx.worker.BufferAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.IllegalReferenceCountException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;

/** Copies between Netty's buffers and plain addresses, and atomic instructions on those; without anything allocated. */
final class RawMemory {

    private static final MemorySegment ALL = NativeMemory.all();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private RawMemory() {
    }

    static void copyOut(ByteBuf source, int index, long address, int length) {
        if (length == 0) {
            return;
        }
        if (source.hasMemoryAddress() || BufferAddress.isContiguous(source)) {
            copy(BufferAddress.of(source, index, length), address, length);
        } else if (source.hasArray()) {
            MemorySegment.copy(source.array(), source.arrayOffset() + index, ALL, ValueLayout.JAVA_BYTE, address, length);
        } else {
            if (source.nioBufferCount() > 1) {
                // Nothing is copied of a source one of whose pieces has been released: this throws.
                source.nioBuffers(index, length);
            }
            source.getBytes(index, ALL.asSlice(address, length).asByteBuffer());
        }
    }

    private static void copy(long from, long to, int length) {
        // A process can have access to its own memory, and copy within it: memcpy is not for areas that overlap.
        if (length >= NativeCopy.MIN_LENGTH && Math.abs(from - to) >= length) {
            NativeCopy.copy(from, to, length);
        } else {
            MemorySegment.copy(ALL, from, ALL, to, length);
        }
    }

    /**
     * Whether bytes may be written to a buffer at all.
     *
     * @throws IllegalReferenceCountException if it has been released
     * @throws IndexOutOfBoundsException      if it has no room for them
     * @throws ReadOnlyBufferException        if it can only be read
     */
    static void checkTarget(ByteBuf target, int index, int length) {
        if (target.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        if (index < 0 || index > target.capacity() - length) {
            throw new IndexOutOfBoundsException("index: " + index + ", length: " + length + " (expected: within the "
                    + target.capacity() + " bytes of the target)");
        }
        if (length > 0 && target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
    }

    /**
     * The same, of each piece of a composite, which says of none that it can only be read: UCX, or this process, would write
     * there all the same, and if that is a page of a file that is mapped to be read, the process ends. Allocates, if the
     * buffer is a composite, and nothing otherwise.
     */
    static void checkParts(ByteBuf target, int index, int length) {
        for (ByteBuf buffer = target; length > 0 && buffer != null; buffer = buffer.unwrap()) {
            if (buffer instanceof CompositeByteBuf) {
                for (ByteBuffer part : target.nioBuffers(index, length)) {
                    if (part.isReadOnly()) {
                        throw new ReadOnlyBufferException();
                    }
                }
                return;
            }
        }
    }

    static void copyIn(long address, ByteBuf target, int index, int length) {
        if (length == 0) {
            return;
        }
        if (target.hasMemoryAddress() || BufferAddress.isContiguous(target)) {
            copy(address, BufferAddress.of(target, index, length), length);
        } else if (target.hasArray()) {
            MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, target.array(), target.arrayOffset() + index, length);
        } else {
            target.setBytes(index, ALL.asSlice(address, length).asByteBuffer());
        }
    }

    /**
     * As an atomic instruction. Whoever executes it, the peer's thread on memory that both attach, or the owner's loop: it
     * is the same instruction on the same memory, and so these are atomic among themselves and towards the owner's own.
     */
    static long getAndAdd(long address, long delta) {
        return (long) LONG.getAndAdd(ALL, address, delta);
    }

    /** As {@link #getAndAdd}. @return what was there before */
    static long compareAndExchange(long address, long expected, long update) {
        return (long) LONG.compareAndExchange(ALL, address, expected, update);
    }
}
