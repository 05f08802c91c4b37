// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.Pipe;
import io.github.nettyucx.ucp.NativeMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.ReferenceCounted;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * A buffer that small writes are gathered in. Releasing it returns it to its {@link SendBufferPool}.
 */
public final class SendBuffer extends AbstractReferenceCounted {

    /** Up to this size a copy costs less than the call of one that copes with everything, in bytes. */
    private static final int SMALL = 64;

    /** A region may write in vain a few times before it returns; one that goes on does not mean to return. */
    private static final int VAIN_WRITES = 1000;

    private static final MemorySegment ALL = NativeMemory.all();

    private final SendBufferPool pool;
    private final ByteBuf memory;
    private final long address;
    private final MemorySlab slab;

    /**
     * @param slab that the memory is a part of, or {@code null}
     */
    SendBuffer(SendBufferPool pool, ByteBuf memory, long address, MemorySlab slab) {
        this.pool = pool;
        this.memory = memory;
        this.address = address;
        this.slab = slab;
    }

    /** Where the gathered bytes are written to. */
    public ByteBuf memory() {
        return memory;
    }

    /** Appends bytes of a buffer; there must be room for them. */
    public void append(ByteBuf source, int index, int length) {
        if (length > SMALL || !source.hasMemoryAddress()) {
            memory.writeBytes(source, index, length);
            return;
        }
        int end = memory.writerIndex();
        assert length <= memory.capacity() - end && index >= 0 && length <= source.capacity() - index;
        copy(source.memoryAddress() + index, address + end, length);
        memory.writerIndex(end + length);
    }

    private static void copy(long from, long to, int length) {
        int done = 0;
        for (; done <= length - Long.BYTES; done += Long.BYTES) {
            ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, to + done, ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, from + done));
        }
        for (; done < length; done++) {
            ALL.set(ValueLayout.JAVA_BYTE, to + done, ALL.get(ValueLayout.JAVA_BYTE, from + done));
        }
    }

    /**
     * Appends bytes of a file, until the buffer has {@code limit} of them, which is no more than it has room for.
     *
     * @return how many it has
     * @throws IOException also if the file goes on writing when there is no more room, which it cannot wait for: only this
     *                     thread makes more
     */
    public int append(FileRegion file, int limit) throws IOException {
        // A loop that is marked as interrupted would have its file closed; those that never sleep keep the mark.
        Thread.interrupted();
        file.transferTo(new Target(memory, limit), file.transferred());
        return memory.readableBytes();
    }

    /**
     * Appends what is in a pipe.
     *
     * @param length how many bytes of it at most, for which there has to be room
     * @return how many these were
     */
    public int append(Pipe pipe, int length) throws IOException {
        int read = pipe.read(address + memory.writerIndex(), length);
        if (read < 0) {
            throw Errno.exception("read", -read);
        }
        memory.writerIndex(memory.writerIndex() + read);
        return read;
    }

    private static final class Target implements WritableByteChannel {

        private final ByteBuf memory;
        private final int limit;
        /** How many writes there have been since the memory is full. */
        private int vain;

        Target(ByteBuf memory, int limit) {
            this.memory = memory;
            this.limit = limit;
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            int size = Math.min(source.remaining(), limit - memory.writerIndex());
            if (size == 0 && source.hasRemaining() && ++vain > VAIN_WRITES) {
                throw new IOException("a FileRegion goes on writing to a target that takes no more for now: its transferTo"
                        + " has to return when a write has taken nothing");
            }
            int position = source.position();
            memory.writeBytes(source.slice(position, size));
            source.position(position + size);
            return size;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // Nothing to close.
        }
    }

    /** Of the memory's first byte. */
    public long address() {
        return address;
    }

    /** The registered memory that this is a part of, or {@code null}. */
    MemorySlab slab() {
        return slab;
    }

    @Override
    protected void deallocate() {
        setRefCnt(1);
        memory.clear();
        pool.returned(this);
    }

    @Override
    public ReferenceCounted touch(Object hint) {
        return this;
    }
}
