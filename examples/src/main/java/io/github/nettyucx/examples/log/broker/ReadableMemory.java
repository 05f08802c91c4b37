// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.storage.SegmentFile;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;

/**
 * What consumers of one partition read without asking. The current segment has a copy in memory of its own, to which no
 * producer has access, and into which comes what is written. What of it is committed the slot tells. The next segment has the
 * same memory: by the partition's word, which says of what segment it is, consumers find out that it has changed. Sealed
 * segments are mapped files.
 */
final class ReadableMemory {
    private final BrokerSettings settings;
    /** Of the current segment; {@code null} as long as nobody has asked for it. */
    private UcxMemory current;
    /** Whether somebody has asked for it since the segment began. */
    private boolean wanted;
    private final Map<SegmentFile, UcxMemory> sealed = new HashMap<>();

    ReadableMemory(BrokerSettings settings) {
        this.settings = settings;
    }

    /** @return a key to read with */
    byte[] open(SegmentFile segment) throws IOException {
        if (segment.state() == SegmentFile.State.SEALED) {
            var mapped = sealed.get(segment);
            if (mapped == null) {
                mapped = UcxMemory.of(Unpooled.wrappedBuffer(segment.map()), UcxMemoryRight.READ);
                sealed.put(segment, mapped);
            }
            return mapped.exportKey();
        }
        if (current == null) {
            var memory = settings.memory().allocate(segment.capacity(), UcxMemoryRight.READ);
            try {
                segment.read(memory.segment().asByteBuffer().limit(segment.size()), 0);
            } catch (IOException | RuntimeException e) {
                memory.close();
                throw e;
            }
            current = memory;
        }
        wanted = true;
        return current.exportKey();
    }

    /** Records have been written to the current segment. */
    void committed(int position, MemorySegment records) {
        if (current != null) {
            MemorySegment.copy(records, 0, current.segment(), position, records.byteSize());
        }
    }

    /**
     * Another segment has begun, of which the partition's word tells. Memory for which nobody has asked while there was the
     * one before is given back: who still has it is refused, and asks where to go on.
     */
    void sealed() {
        if (current != null && !wanted) {
            current.close();
            current = null;
        }
        wanted = false;
        // Nothing of the new segment is seen by those who still see the word of the one before.
        VarHandle.fullFence();
    }

    void close() {
        wanted = false;
        sealed();
        sealed.values().forEach(UcxMemory::close);
        sealed.clear();
    }
}
