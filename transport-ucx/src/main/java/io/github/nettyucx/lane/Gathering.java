// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.IntSetting;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;

/**
 * Finds out what the next message is made of: one piece of memory that is sent as it is, or several small ones that
 * are copied together. One message for many writes is what makes small writes cheap.
 */
final class Gathering implements ChannelOutboundBuffer.MessageProcessor {

    /**
     * From this size on a buffer is sent from where it lies, even if others wait behind it, in bytes. What is smaller has
     * to fit into a send buffer.
     */
    static final IntSetting ZERO_COPY_SETTING = IntSetting.of("io.github.nettyucx.zeroCopyMin", 8 * 1024, 1,
            SendBufferPool.CAPACITY, "bytes, which is what a send buffer has room for, see "
                    + SendBufferPool.CAPACITY_PROPERTY);

    /**
     * On links that need registered memory: what is smaller is copied into a send buffer, which is registered, and what
     * is not is registered where it lies, for the one send, in bytes.
     */
    static final IntSetting REGISTRATION_SETTING =
            IntSetting.of("io.github.nettyucx.registrationMin", 64 * 1024, 0, Integer.MAX_VALUE, "bytes");

    private final SendBufferPool pool;
    /** Smaller pieces are copied even if they are alone. */
    private final int copiedBelow;
    /** Smaller ones are copied if they are not. */
    private final int zeroCopyMin;
    /** Flushed bytes to pass over: they have been sent already. */
    private int skip;
    private int room;

    private int length;
    /** That the message has been copied together from. */
    private int buffers;
    private ByteBuf single;
    private int singleIndex;
    private long singleAddress;
    private SendBuffer merged;
    private FileRegion region;

    Gathering(SendBufferPool pool) {
        this.pool = pool;
        copiedBelow = pool.registered() == null ? 0 : REGISTRATION_SETTING.value();
        zeroCopyMin = Math.max(ZERO_COPY_SETTING.value(), copiedBelow);
    }

    /**
     * @param skip of the flushed bytes, those that were sent before
     * @param room the most that the message may have, in bytes
     */
    void gather(ChannelOutboundBuffer in, int skip, int room) throws Exception {
        assert merged == null && room > 0;
        this.skip = skip;
        this.room = room;
        length = 0;
        buffers = 0;
        single = null;
        region = null;
        in.forEachFlushedMessage(this);
    }

    /** Of the message; 0 if there is nothing that could be sent as one. */
    int length() {
        return length;
    }

    /** How many buffers the message has been copied together from. */
    int buffers() {
        return buffers;
    }

    /** What the message consists of if it is sent from where it lies, or {@code null}. */
    ByteBuf single() {
        return merged == null ? single : null;
    }

    long singleAddress() {
        return singleAddress != 0 ? singleAddress : BufferAddress.of(single, singleIndex, length);
    }

    /** Takes the buffer that the message has been copied into. */
    SendBuffer takeMerged() {
        SendBuffer buffer = merged;
        merged = null;
        return buffer;
    }

    /** The file that comes first, if {@link #length()} is 0 because of one. */
    FileRegion region() {
        return region;
    }

    /** Gives back what has not been taken. */
    void clear() {
        single = null;
        region = null;
        if (merged != null) {
            merged.release();
            merged = null;
        }
    }

    @Override
    public boolean processMessage(Object message) {
        if (!(message instanceof ByteBuf buffer)) {
            if (length == 0) {
                region = (FileRegion) message;
            }
            return false;
        }
        int readable = buffer.readableBytes();
        if (readable <= skip) {
            skip -= readable;
            return true;
        }
        int index = buffer.readerIndex() + skip;
        int available = readable - skip;
        skip = 0;
        return length == 0 ? first(buffer, index, available) : further(buffer, index, available);
    }

    private boolean first(ByteBuf buffer, int index, int available) {
        int size = Math.min(available, room);
        if (size >= copiedBelow && BufferAddress.isContiguous(buffer)) {
            take(buffer, index, 0, size);
            // A small one may have company.
            return available < zeroCopyMin && available < room;
        }
        if (size >= copiedBelow && available >= zeroCopyMin && buffer instanceof CompositeByteBuf composite
                && firstComponent(composite, index, available)) {
            return false;
        }
        merged = pool.acquire();
        return copy(buffer, index, available);
    }

    /** Sends a large component of a composite from where it lies; the others are copied together. */
    private boolean firstComponent(CompositeByteBuf composite, int index, int available) {
        int number = composite.toComponentIndex(index);
        ByteBuf component = composite.internalComponent(number);
        int left = Components.available(composite, number, index, available);
        int size = Math.min(left, room);
        if (left < zeroCopyMin || size < copiedBelow || !BufferAddress.isContiguous(component)) {
            return false;
        }
        int offset = Components.offset(composite, number, index);
        take(composite, index, BufferAddress.of(component, offset, size), size);
        return true;
    }

    private void take(ByteBuf owner, int index, long address, int size) {
        single = owner;
        singleIndex = index;
        singleAddress = address;
        length = size;
    }

    private boolean further(ByteBuf buffer, int index, int available) {
        if (available >= zeroCopyMin && BufferAddress.isContiguous(buffer)) {
            return false;
        }
        if (merged == null) {
            merged = pool.acquire();
            merged.append(single, singleIndex, length);
            buffers++;
            single = null;
        }
        return copy(buffer, index, available);
    }

    private boolean copy(ByteBuf buffer, int index, int available) {
        ByteBuf memory = merged.memory();
        int size = Math.min(available, Math.min(room, memory.capacity()) - memory.writerIndex());
        merged.append(buffer, index, size);
        buffers++;
        length = memory.writerIndex();
        return size == available && length < room && memory.isWritable();
    }
}
