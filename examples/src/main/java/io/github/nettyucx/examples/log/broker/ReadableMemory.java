// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.storage.SegmentFile;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * What consumers of one partition read without asking. The current segment has a copy in memory of its own, to which no
 * producer has access, and into which only what is committed comes. Sealed segments are mapped files.
 */
final class ReadableMemory {
    private final BrokerSettings settings;
    /** Of the current segment; {@code null} as long as nobody has asked for it. */
    private UcxMemory current;
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
            current = settings.memory().allocate(segment.capacity(), UcxMemoryRight.READ);
            segment.read(current.segment().asByteBuffer().limit(segment.size()), 0);
        }
        return current.exportKey();
    }

    /** Records have been written to the current segment. */
    void committed(int position, MemorySegment records) {
        if (current != null) {
            MemorySegment.copy(records, 0, current.segment(), position, records.byteSize());
        }
    }

    /** The current segment has been sealed. Who reads it is refused from now on, and asks where to go on. */
    void sealed() {
        if (current != null) {
            current.close();
            current = null;
        }
    }

    void close() {
        sealed();
        sealed.values().forEach(UcxMemory::close);
        sealed.clear();
    }
}
