// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;

/** Asks the broker for the records of one partition, from an offset on. One poll at a time. */
public final class MessageConsumer {
    private static final int MAX_BYTES = 256 << 10;

    private final LogConnection connection;
    private final int partition;
    private volatile long offset;

    MessageConsumer(LogConnection connection, int partition, long offset) {
        this.connection = connection;
        this.partition = partition;
        this.offset = offset;
    }

    /** Of the next record. */
    public long offset() {
        return offset;
    }

    /** The offset behind the last record that there is. */
    public Future<Long> end() {
        // Of records it asks for as few as can be.
        var asked = connection.ask(request -> new Message.Fetch(request, partition, offset, 1, 0));
        return connection.map(asked, answer -> {
            var fetched = (Message.Fetched) answer;
            fetched.records().release();
            return fetched.next();
        });
    }

    /**
     * The next records.
     *
     * @param waitMillis how long the broker may wait for one if there is none; then the answer is empty
     */
    public Future<List<LogRecord>> poll(int waitMillis) {
        var from = offset;
        var asked = connection.ask(request -> new Message.Fetch(request, partition, from, MAX_BYTES, waitMillis));
        return connection.map(asked, answer -> {
            var records = ((Message.Fetched) answer).records();
            try {
                var found = new ArrayList<LogRecord>();
                RecordReader.read(records, partition, from, found);
                offset = from + found.size();
                return found;
            } finally {
                records.release();
            }
        });
    }
}
