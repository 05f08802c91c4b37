// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * How far the connections of one process have come, all together.
 *
 * @param opening   connections that are being made
 * @param closing   connections that the process has closed, and that have not ended yet
 * @param sent      bytes that have been given to UCX or to the kernel
 * @param completed those of writes whose promises are done
 * @param received  bytes that have arrived; of a rendezvous they may still be at the peer
 */
record Progress(long opening, long closing, long sent, long completed, long received) {

    static final Progress NONE = new Progress(0, 0, 0, 0, 0);

    Progress plus(Progress other) {
        return new Progress(opening + other.opening, closing + other.closing, sent + other.sent,
                completed + other.completed, received + other.received);
    }

    /** Bytes that the transport has been given and that are not done. */
    long unfinished() {
        return sent - completed;
    }

    /** A file that a process keeps its progress in, and that outlives it, however it dies. */
    static final class Record {

        private final MappedByteBuffer memory;

        Record(Path file) throws IOException {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, 5 * Long.BYTES);
            }
        }

        /** Who dies in the middle of it has sent more than the file says, and not less. */
        void write(Progress progress) {
            memory.putLong(Long.BYTES, progress.completed);
            memory.putLong(2 * Long.BYTES, progress.received);
            memory.putLong(0, progress.sent);
            memory.putLong(3 * Long.BYTES, progress.opening);
            memory.putLong(4 * Long.BYTES, progress.closing);
        }

        Progress read() {
            return new Progress(memory.getLong(3 * Long.BYTES), memory.getLong(4 * Long.BYTES), memory.getLong(0),
                    memory.getLong(Long.BYTES), memory.getLong(2 * Long.BYTES));
        }
    }
}
