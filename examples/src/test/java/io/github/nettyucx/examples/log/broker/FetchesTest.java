// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of a segment for a fetch. */
class FetchesTest {
    private static final int RECORDS = 4;
    private static final int CAPACITY = 4096;

    @TempDir
    private Path directory;

    /** A leader that has started again knows of a segment as a whole that it may be read, or not yet. */
    @Test
    void nothingIsReadBehindTheEndOfWhatMayBeRead() throws Exception {
        try (var log = PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE)) {
            for (var i = 0; i < RECORDS; i++) {
                var record = Records.encode(PooledByteBufAllocator.DEFAULT, new byte[] {(byte) i});
                log.append(record.nioBuffer());
                record.release();
            }
            var segment = log.find(2);
            assertFalse(Fetches.read(segment, 2, 0, CAPACITY).isReadable());
            assertFalse(Fetches.read(segment, 2, segment.position(2), CAPACITY).isReadable());
            var read = Fetches.read(segment, 2, segment.size(), CAPACITY);
            try {
                assertEquals(segment.size() - segment.position(2), read.readableBytes());
            } finally {
                read.release();
            }
        }
    }
}
