// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.IoVector;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Lays out what one system call sends: entries that point at large buffers where they lie, and between them runs of
 * small ones that are copied together. The kernel copies everything anyway; for a small buffer an entry of its own costs
 * it more than the copy costs us.
 * <p>
 * A small buffer without small neighbours stays where it is: a lone message is sent without a copy.
 */
final class SocketGathering implements ChannelOutboundBuffer.MessageProcessor {

    /** From this size on a buffer has an entry of its own, in bytes. */
    static final int ENTRY_MIN = 1024;

    /** What the last entry is. */
    private enum Last {
        /** There is none. */
        NONE,
        /** A large buffer, or the end of what fits. */
        LARGE,
        /** A small buffer where it lies; it is copied if another small one follows. */
        SMALL,
        /** Small buffers that have been copied together. */
        RUN
    }

    private final SendBufferPool pool;
    private IoVector vector;
    private int room;
    private int length;
    private int count;
    private int copied;
    private SendBuffer copy;

    // The last entry, which goes into the vector when another one follows.
    private Last last = Last.NONE;
    private long address;
    private int size;
    private ByteBuf small;
    private int smallIndex;

    SocketGathering(SendBufferPool pool) {
        this.pool = pool;
    }

    /**
     * @param vector takes the entries, if there are several
     * @param room   the most to send, in bytes; at least 1
     */
    void gather(ChannelOutboundBuffer in, IoVector vector, int room) throws Exception {
        assert copy == null && room > 0;
        this.vector = vector;
        this.room = room;
        length = 0;
        count = 0;
        copied = 0;
        last = Last.NONE;
        in.forEachFlushedMessage(this);
        if (count > 1) {
            vector.set(count - 1, address, size);
        }
    }

    /** In bytes; 0 if a file comes first, or there is nothing but empty buffers. */
    int length() {
        return length;
    }

    /** How many entries there are. With a single one the vector has not been written. */
    int count() {
        return count;
    }

    /** Of a single entry. */
    long address() {
        return address;
    }

    /** How many buffers have been copied together. */
    int copied() {
        return copied;
    }

    /** Gives back what the entries point at; to be called when the kernel has its copy. */
    void clear() {
        small = null;
        if (copy != null) {
            copy.release();
            copy = null;
        }
    }

    @Override
    public boolean processMessage(Object message) {
        if (!(message instanceof ByteBuf buffer)) {
            return false;
        }
        int readable = buffer.readableBytes();
        if (readable == 0) {
            return true;
        }
        return readable >= ENTRY_MIN && buffer instanceof CompositeByteBuf composite && composite.numComponents() > 1
                ? addComponents(composite, readable) : add(buffer, buffer.readerIndex(), readable);
    }

    private boolean addComponents(CompositeByteBuf composite, int readable) {
        int index = composite.readerIndex();
        int end = index + readable;
        for (int number = composite.toComponentIndex(index); index < end; number++) {
            int offset = Components.offset(composite, number, index);
            int available = Components.available(composite, number, index, end - index);
            if (available > 0 && !add(composite.internalComponent(number), offset, available)) {
                return false;
            }
            index += available;
        }
        return true;
    }

    /** @return whether all of it has been added, and there is room for more */
    private boolean add(ByteBuf buffer, int index, int available) {
        int bytes = Math.min(available, room);
        boolean whole = bytes == available;
        if (!BufferAddress.isContiguous(buffer)) {
            return append(buffer, index, bytes) && whole && room > 0;
        }
        if (bytes < ENTRY_MIN && (last == Last.SMALL || last == Last.RUN)) {
            return append(buffer, index, bytes) && whole && room > 0;
        }
        if (!open(bytes < ENTRY_MIN ? Last.SMALL : Last.LARGE, BufferAddress.of(buffer, index, bytes))) {
            return false;
        }
        small = buffer;
        smallIndex = index;
        added(bytes);
        return whole && room > 0;
    }

    /** Begins an entry, if there can be one more. */
    private boolean open(Last kind, long at) {
        if (count == vector.capacity()) {
            return false;
        }
        if (count > 0) {
            vector.set(count - 1, address, size);
        }
        count++;
        last = kind;
        address = at;
        size = 0;
        return true;
    }

    private void added(int bytes) {
        size += bytes;
        length += bytes;
        room -= bytes;
    }

    /** @return whether all of it has been copied */
    private boolean append(ByteBuf buffer, int index, int bytes) {
        if (copy == null) {
            copy = pool.acquire();
        }
        ByteBuf memory = copy.memory();
        if (last == Last.SMALL) {
            if (memory.writableBytes() <= size) {
                return false;
            }
            address = copy.address() + memory.writerIndex();
            copy.append(small, smallIndex, size);
            copied++;
            last = Last.RUN;
        } else if (!memory.isWritable() || last != Last.RUN && !open(Last.RUN, copy.address() + memory.writerIndex())) {
            return false;
        }
        int part = Math.min(bytes, memory.writableBytes());
        copy.append(buffer, index, part);
        copied++;
        added(part);
        return part == bytes;
    }
}
