// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;

/** Asks the broker for the records of one partition, from an offset on. One poll at a time. */
public final class MessageConsumer {
    /** As much as is asked for at once, unless something else is said. */
    static final int MAX_BYTES = 256 << 10;

    private final LogConnection connection;
    private final int partition;
    private final int maxBytes;
    private volatile long offset;

    MessageConsumer(LogConnection connection, int partition, long offset, int maxBytes) {
        this.connection = connection;
        this.partition = partition;
        this.offset = offset;
        this.maxBytes = maxBytes;
    }

    /** Of the next record. */
    public long offset() {
        return offset;
    }

    /** Goes on with another record; not while it polls. */
    public void seek(long next) {
        offset = next;
    }

    /** The offset behind the last record that there is. */
    public Future<Long> end() {
        // Of records it asks for as few as can be.
        return connection.ask(request -> new Message.Fetch(request, partition, offset, 1, 0), answer -> {
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
        return connection.ask(request -> new Message.Fetch(request, partition, from, maxBytes, waitMillis), answer -> {
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
