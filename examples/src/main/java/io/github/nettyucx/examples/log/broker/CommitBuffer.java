// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
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
    private record Waiting(Peer peer, int request, long offset) { }

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
     * Takes records from memory that others can write to.
     *
     * @param base the offset that the first record in this buffer has
     * @return what is wrong with them; then they are not taken. {@code null} if nothing is
     */
    String take(MemorySegment source, long base, Peer peer, int request) {
        allocate();
        var size = (int) source.byteSize();
        MemorySegment.copy(source, 0, memory, length, size);
        return check(size, base, peer, request);
    }

    /** As the other; leaves the buffer's indexes alone. */
    String take(ByteBuf source, long base, Peer peer, int request) {
        allocate();
        source.getBytes(source.readerIndex(), bytes.slice(length, source.readableBytes()));
        return check(source.readableBytes(), base, peer, request);
    }

    private void allocate() {
        if (memory == null) {
            memory = Arena.ofAuto().allocate(Records.MAX_LENGTH, Long.BYTES);
            bytes = memory.asByteBuffer();
        }
    }

    private String check(int size, long base, Peer peer, int request) {
        var found = Records.count(bytes, length, length + size);
        if (found == 0) {
            return Records.fault(bytes, length, length + size);
        }
        waiting.add(new Waiting(peer, request, base + count));
        length += size;
        count += found;
        return null;
    }

    /**
     * The records have been written.
     *
     * @return acknowledges them
     */
    Runnable written() {
        var written = List.copyOf(waiting);
        clear();
        return () -> written.forEach(one -> one.peer.send(new Produced(one.request, one.offset)));
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
