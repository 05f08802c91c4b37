// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** Takes records out of what a consumer has got, and checks them. */
final class RecordReader {
    private RecordReader() {
    }

    /**
     * @param bytes read up to the last record that is there as a whole
     * @param offset of the first
     * @param found receives them
     * @throws LogException if one is damaged
     */
    static void read(ByteBuf bytes, int partition, long offset, List<LogRecord> found) throws LogException {
        var buffer = bytes.nioBuffer();
        var from = buffer.position();
        var end = Records.wholeRecords(buffer, from, buffer.limit());
        for (var at = from; at < end;) {
            var length = Records.check(buffer, at, end);
            if (length == 0) {
                throw damaged(offset, partition, Records.fault(buffer, at, end));
            }
            var payload = new byte[length - Records.HEADER];
            buffer.get(at + Records.HEADER, payload);
            found.add(new LogRecord(partition, offset++, payload));
            at += length;
        }
        bytes.skipBytes(end - from);
    }

    static LogException damaged(long offset, int partition, String fault) {
        return new LogException("record " + offset + " of partition " + partition + " is damaged: " + fault + ". It was not"
                + " when the broker committed it; restart the broker to have it read its files again.");
    }
}
