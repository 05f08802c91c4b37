// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.socket.NativeCopy;
import io.github.nettyucx.worker.BufferAddress;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

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
     */
    static void checkTarget(ByteBuf target, int index, int length) {
        if (target.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        if (index < 0 || index > target.capacity() - length) {
            throw new IndexOutOfBoundsException("index: " + index + ", length: " + length + " (expected: within the "
                    + target.capacity() + " bytes of the target)");
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
