// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.Pipe;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;

import java.io.IOException;

/**
 * Sends file regions. The bytes of a file go from the page cache through a pipe into the socket, and are not copied on
 * the way: Java gives out no descriptor of a file, but its {@code transferTo} fills a pipe by sendfile(2). Other regions,
 * subclasses among them, and files that cannot be sent like that, are copied.
 * <p>
 * What has been taken from a region and not yet been sent belongs to the lane until it is: the region counts it as
 * transferred.
 */
final class SocketFile {

    private final SocketOutput output;
    private final KernelSocket socket;
    private final ProgressEngine engine;

    /** What the bytes are of that have been taken and not been sent. */
    private FileRegion region;
    /** Where they are: in one of the two. */
    private Pipe pipe;
    private SendBuffer copy;
    private int unsent;

    SocketFile(SocketOutput output, KernelSocket socket, ProgressEngine engine) {
        this.output = output;
        this.socket = socket;
        this.engine = engine;
    }

    /**
     * Sends a part of the region that comes first, and removes it after its last one.
     *
     * @return false if the region gave nothing, although something is missing
     */
    boolean write(ChannelOutboundBuffer in, FileRegion next) throws IOException {
        if (region != null && region != next) {
            // It has been failed meanwhile: its bytes are nobody's.
            release();
        }
        if (unsent == 0) {
            if (next.transferred() >= next.count()) {
                in.remove();
                return true;
            }
            if (!take(next)) {
                return false;
            }
        }
        int sent = pipe != null ? socket.spliceFrom(pipe, unsent)
                : socket.send(copy.address() + copy.memory().readerIndex(), unsent);
        if (!output.sent(sent, pipe != null ? "splice" : "send")) {
            return true;
        }
        unsent -= sent;
        if (copy != null) {
            copy.memory().skipBytes(sent);
        }
        if (unsent == 0) {
            release();
        }
        in.progress(sent);
        // A listener of the progress may have closed the channel.
        if (unsent == 0 && next.transferred() >= next.count() && in.current() == next) {
            in.remove();
        }
        return true;
    }

    /** @return whether there were any bytes */
    private boolean take(FileRegion next) throws IOException {
        region = next;
        boolean taken = false;
        try {
            // What a subclass of the application's writes into a pipe, and when it stops, is nobody's knowledge.
            taken = next.getClass() == DefaultFileRegion.class && fillPipe((DefaultFileRegion) next) || fillCopy(next);
        } finally {
            if (!taken) {
                discard();
            }
        }
        return taken;
    }

    private boolean fillPipe(DefaultFileRegion file) throws IOException {
        pipe = engine.pipes().acquire();
        if (pipe == null) {
            return false;
        }
        // A loop that is marked as interrupted would have its file closed; those that never sleep keep the mark.
        Thread.interrupted();
        // Takes as much as the pipe holds. It opens the file, and throws if that has ended too early.
        long length = file.transferTo(pipe.target(), file.transferred());
        if (length > 0) {
            unsent = (int) length;
            return true;
        }
        discard();
        region = file;
        return false;
    }

    private boolean fillCopy(FileRegion next) throws IOException {
        copy = engine.sendBuffers().acquire();
        unsent = copy.append(next, SendBufferPool.CAPACITY);
        return unsent > 0;
    }

    /** Gives everything back, after the last byte or before it. */
    void release() {
        if (unsent == 0 && pipe != null) {
            engine.pipes().release(pipe);
            pipe = null;
        }
        discard();
    }

    private void discard() {
        region = null;
        unsent = 0;
        if (pipe != null) {
            engine.pipes().discard(pipe);
            pipe = null;
        }
        if (copy != null) {
            copy.release();
            copy = null;
        }
    }
}
