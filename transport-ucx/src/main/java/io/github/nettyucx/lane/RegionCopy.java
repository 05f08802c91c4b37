// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.channel.FileRegion;

import java.io.IOException;

/** Bytes that a region has written into a buffer, and that have not been sent. */
final class RegionCopy {

    private final SendBufferPool pool;
    /** {@code null} while there is nothing in it. */
    private SendBuffer buffer;
    private FileRegion region;

    RegionCopy(SendBufferPool pool) {
        this.pool = pool;
    }

    /**
     * Takes what the region writes into a buffer. Nothing may be left from before.
     *
     * @param limit how many bytes these may be, at most {@link SendBufferPool#CAPACITY}
     * @return whether that was anything
     */
    boolean fill(FileRegion next, int limit) throws IOException {
        SendBuffer filling = pool.acquire();
        buffer = filling;
        region = next;
        // A region of the application's may close the channel, which discards what there is, and write on. It must not write
        // into a buffer that others can have by then.
        filling.retain();
        int length = 0;
        try {
            length = filling.append(next, limit);
        } finally {
            if (length == 0 && buffer == filling) {
                discard();
            }
            filling.release();
        }
        return buffer == filling;
    }

    boolean isEmpty() {
        return buffer == null;
    }

    /** How many bytes there are. */
    int left() {
        return buffer == null ? 0 : buffer.memory().readableBytes();
    }

    /** Where they are. */
    SendBuffer buffer() {
        return buffer;
    }

    /** Of the first of them. */
    long address() {
        return buffer.address() + buffer.memory().readerIndex();
    }

    /** So many have been sent. Who needs their memory for longer has a reference of its own. */
    void took(int bytes) {
        if (!buffer.memory().skipBytes(bytes).isReadable()) {
            discard();
        }
    }

    /** Throws away what there is of any other region: that has been failed meanwhile. */
    void keepOnly(FileRegion next) {
        if (region != next) {
            discard();
        }
    }

    void discard() {
        region = null;
        if (buffer != null) {
            buffer.release();
            buffer = null;
        }
    }
}
