// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.socket.Pipe;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * The pipes of one loop, by which files get into sockets and send buffers. A channel has one only while bytes are in it. The
 * one used last is taken first.
 */
public final class PipePool {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(PipePool.class);

    /** Pipes that an idle loop keeps; each has three descriptors. */
    private static final int KEPT = 4;

    /** A file that waits for a slow reader keeps its pipe. With so many in use, the files of others are copied. */
    private static final int MAX_IN_USE = 16;

    /** After a pipe could not be opened none is asked for, so long: without descriptors each attempt is in vain. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ArrayDeque<Pipe> free = new ArrayDeque<>(KEPT);
    private int inUse;
    private boolean refused;
    private long refusedNanos;
    private boolean closed;

    /** @return an empty pipe, or {@code null} if there is none to be had: files can be copied as well */
    public Pipe acquire() {
        if (inUse == MAX_IN_USE) {
            return null;
        }
        Pipe pipe = free.pollLast();
        if (pipe == null) {
            pipe = open();
        }
        if (pipe != null) {
            inUse++;
        }
        return pipe;
    }

    private Pipe open() {
        if (closed || refused && System.nanoTime() - refusedNanos < PAUSE_NANOS) {
            return null;
        }
        try {
            Pipe pipe = Pipe.open();
            refused = false;
            return pipe;
        } catch (IOException e) {
            logger.debug("No pipe for a file, which is copied instead.", e);
            refused = true;
            refusedNanos = System.nanoTime();
            return null;
        }
    }

    /** How many have been acquired and not been given back. */
    public int inUse() {
        return inUse;
    }

    /** @param pipe that is empty; one that is not has to be discarded instead */
    public void release(Pipe pipe) {
        inUse--;
        if (closed || free.size() == KEPT) {
            pipe.close();
        } else {
            free.addLast(pipe);
        }
    }

    /** Closes a pipe, with what is left in it: others must not get that. */
    public void discard(Pipe pipe) {
        inUse--;
        pipe.close();
    }

    /** Pipes that are in use are closed when they are released. */
    public void close() {
        closed = true;
        for (Pipe pipe = free.poll(); pipe != null; pipe = free.poll()) {
            pipe.close();
        }
    }
}
