// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Pipe;
import io.github.nettyucx.worker.PipePool;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;

import java.io.IOException;

/**
 * Bytes of a file on their way through a pipe, into which they get from the page cache without being copied: Java gives out
 * no descriptor of a file, but its {@code transferTo} fills a pipe by sendfile(2). Other regions, subclasses among them, and
 * files that cannot be sent like that, have to be copied by Java.
 * <p>
 * What is in the pipe belongs to the lane until it is sent: the region counts it as transferred.
 */
final class FilePipe {

    private final PipePool pool;
    /** {@code null} while there is nothing in it. */
    private Pipe pipe;
    private FileRegion region;
    private int left;

    FilePipe(PipePool pool) {
        this.pool = pool;
    }

    /**
     * Takes as much of the region as the pipe holds. Nothing may be left from before.
     *
     * @return whether that was anything; if not, it has to be copied
     * @throws IOException if the file cannot be opened, or has ended too early
     */
    boolean fill(FileRegion next) throws IOException {
        // What a subclass of the application's writes into a pipe, and when it stops, is nobody's knowledge.
        pipe = next.getClass() == DefaultFileRegion.class ? pool.acquire() : null;
        if (pipe == null) {
            return false;
        }
        try {
            // A loop that is marked as interrupted would have its file closed; those that never sleep keep the mark.
            Thread.interrupted();
            left = (int) Math.max(0, next.transferTo(pipe.target(), next.transferred()));
        } finally {
            if (left == 0) {
                discard();
            }
        }
        region = next;
        return left > 0;
    }

    boolean isEmpty() {
        return left == 0;
    }

    /** How many bytes there are. */
    int left() {
        return left;
    }

    /** Where they are. */
    Pipe pipe() {
        return pipe;
    }

    /** So many have been taken out. */
    void took(int bytes) {
        left -= bytes;
        if (left == 0) {
            pool.release(pipe);
            pipe = null;
            region = null;
        }
    }

    /** Throws away what there is of any other region: that has been failed meanwhile. */
    void keepOnly(FileRegion next) {
        if (region != next) {
            discard();
        }
    }

    void discard() {
        left = 0;
        region = null;
        if (pipe != null) {
            pool.discard(pipe);
            pipe = null;
        }
    }
}
