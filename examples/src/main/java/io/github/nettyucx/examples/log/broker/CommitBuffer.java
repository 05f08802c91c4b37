// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message.PartlyProduced;
import io.github.nettyucx.examples.log.protocol.Message.Produced;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records on their way from producers to the file. They are copied here before they are checked, and written from here: a
 * producer that goes on to write to its memory cannot change what was checked.
 */
final class CommitBuffer {
    /** @param length of those that are committed, in bytes, if the others are damaged; otherwise {@link #ALL} */
    private record Waiting(Peer peer, int request, long offset, int length) { }

    private static final int ALL = -1;

    /** Both are {@code null} until there is something to take. */
    private MemorySegment memory;
    private ByteBuffer bytes;
    private final List<Waiting> waiting = new ArrayList<>();
    private int length;
    private int count;

    boolean isEmpty() {
        return count == 0;
    }

    /** Of the records, in bytes. */
    int length() {
        return length;
    }

    int count() {
        return count;
    }

    boolean hasRoom(int more) {
        return more <= Records.MAX_LENGTH - length;
    }

    /** All records; valid until they are acknowledged. */
    ByteBuffer records() {
        return bytes.slice(0, length);
    }

    /** The same. */
    MemorySegment memory() {
        return memory.asSlice(0, length);
    }

    /**
     * Takes records from memory that others can write to. If one of them is damaged, those in front of it are taken.
     *
     * @param base the offset that the first record in this buffer has
     * @return what is wrong with them, or {@code null}
     */
    String take(MemorySegment source, long base, Peer peer, int request) {
        allocate();
        var size = (int) source.byteSize();
        var to = length + size;
        MemorySegment.copy(source, 0, memory, length, size);
        var found = Records.count(bytes, length, to);
        if (found > 0) {
            add(size, found, new Waiting(peer, request, base + count, ALL));
            return null;
        }
        var fault = Records.fault(bytes, length, to);
        var intact = Records.intactEnd(bytes, length, to) - length;
        if (intact == 0) {
            return fault;
        }
        found = Records.count(bytes, length, length + intact);
        add(intact, found, new Waiting(peer, request, base + count, intact));
        return fault + "; " + found + " in front of it are committed";
    }

    /** The same, of records that nobody else can write to, and that have been checked. Leaves the buffer's indexes alone. */
    void take(ByteBuf source, int records, long base, Peer peer, int request) {
        allocate();
        var size = source.readableBytes();
        source.getBytes(source.readerIndex(), bytes.slice(length, size));
        add(size, records, new Waiting(peer, request, base + count, ALL));
    }

    private void allocate() {
        if (memory == null) {
            memory = Arena.ofAuto().allocate(Records.MAX_LENGTH, Long.BYTES);
            bytes = memory.asByteBuffer();
        }
    }

    private void add(int size, int records, Waiting one) {
        waiting.add(one);
        length += size;
        count += records;
    }

    /**
     * The records have been written.
     *
     * @return acknowledges them
     */
    Runnable written() {
        var written = List.copyOf(waiting);
        clear();
        return () -> written.forEach(one -> one.peer.send(one.length == ALL ? new Produced(one.request, one.offset)
                : new PartlyProduced(one.request, one.offset, one.length)));
    }

    /** They will never be. */
    void fail(String text) {
        waiting.forEach(one -> one.peer.fail(one.request, ErrorCode.STORAGE, text));
        clear();
    }

    /** The same, and nobody is told. */
    void drop() {
        clear();
    }

    private void clear() {
        waiting.clear();
        length = 0;
        count = 0;
    }
}
