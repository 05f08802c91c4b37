// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message.PartlyProduced;
import io.github.nettyucx.examples.log.protocol.Message.Produced;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.examples.log.storage.SegmentFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records on their way from producers to the file. They are copied before they are checked, to where no producer can write:
 * into the file itself, behind its end, if that is mapped, and otherwise to a buffer from which they are written. So a
 * producer that goes on to write to its memory cannot change what was checked.
 */
final class CommitBuffer {
    /** @param length of those that are committed, in bytes, if the others are damaged; otherwise {@link #ALL} */
    private record Waiting(Peer peer, int request, long offset, int length) { }

    private static final int ALL = -1;

    /** For files that are not mapped; {@code null} until there was one. */
    private ByteBuffer own;
    /** Where the records are, one or the other; {@code null} until there is something to take. */
    private ByteBuffer bytes;
    private MemorySegment memory;
    private int start;
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
        return bytes.slice(start, length);
    }

    /** The same. */
    MemorySegment memory() {
        return memory.asSlice(start, length);
    }

    /**
     * Takes records from memory that others can write to. If one of them is damaged, those in front of it are taken.
     *
     * @param file where they are to be appended; has the room
     * @return what is wrong with them, or {@code null}
     */
    String take(MemorySegment source, SegmentFile file, Peer peer, int request) {
        begin(file);
        var size = (int) source.byteSize();
        var from = start + length;
        var to = from + size;
        MemorySegment.copy(source, 0, memory, from, size);
        var found = Records.count(bytes, from, to);
        if (found > 0) {
            add(size, found, new Waiting(peer, request, file.nextOffset() + count, ALL));
            return null;
        }
        var fault = Records.fault(bytes, from, to);
        var intact = Records.intactEnd(bytes, from, to);
        memory.asSlice(intact, to - intact).fill((byte) 0);
        if (intact == from) {
            return fault;
        }
        found = Records.count(bytes, from, intact);
        add(intact - from, found, new Waiting(peer, request, file.nextOffset() + count, intact - from));
        return fault + "; " + found + " in front of it are committed";
    }

    /** The same, of records that nobody else can write to, and that have been checked. Leaves the buffer's indexes alone. */
    void take(ByteBuf source, int records, SegmentFile file, Peer peer, int request) {
        begin(file);
        var size = source.readableBytes();
        source.getBytes(source.readerIndex(), bytes.slice(start + length, size));
        add(size, records, new Waiting(peer, request, file.nextOffset() + count, ALL));
    }

    private void begin(SegmentFile file) {
        if (!isEmpty()) {
            return;
        }
        var mapping = file.mapping();
        if (mapping == null && own == null) {
            own = ByteBuffer.allocateDirect(Records.MAX_LENGTH);
        }
        start = mapping == null ? 0 : file.size();
        var target = mapping == null ? own : mapping;
        if (bytes != target) {
            bytes = target;
            memory = MemorySegment.ofBuffer(target);
        }
    }

    private void add(int size, int records, Waiting one) {
        waiting.add(one);
        length += size;
        count += records;
    }

    /** Has the log have them. */
    void append(PartitionLog log) throws IOException {
        if (bytes == own) {
            log.append(records());
        } else {
            log.appendMapped(length);
        }
    }

    /**
     * The log has the records.
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
        drop();
    }

    /** The same, and nobody is told. */
    void drop() {
        if (!isEmpty() && bytes != own) {
            // Whatever comes to lie in front of it, nobody is to find it behind that.
            memory().fill((byte) 0);
        }
        clear();
    }

    private void clear() {
        waiting.clear();
        length = 0;
        count = 0;
    }
}
