// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;

import java.io.IOException;

/**
 * Sends file regions. The bytes of a file go from the page cache through a {@link FilePipe} into the socket, and are not
 * copied on the way. What does not get into the pipe is copied. That, too, belongs to the lane until it is sent.
 */
final class SocketFile {

    private final SocketOutput output;
    private final KernelSocket socket;
    private final ProgressEngine engine;

    /** What has been taken and not been sent: in one of the two. */
    private final FilePipe pipe;
    private SendBuffer copy;
    /** That the copy is of. */
    private FileRegion region;

    SocketFile(SocketOutput output, KernelSocket socket, ProgressEngine engine) {
        this.output = output;
        this.socket = socket;
        this.engine = engine;
        pipe = new FilePipe(engine.pipes());
    }

    /**
     * Sends a part of the region that comes first, and removes it after its last one.
     *
     * @return false if the region gave nothing, although something is missing
     */
    boolean write(ChannelOutboundBuffer in, FileRegion next) throws IOException {
        pipe.keepOnly(next);
        if (region != next) {
            discardCopy();
        }
        if (isEmpty()) {
            if (next.transferred() >= next.count()) {
                in.remove();
                return true;
            }
            if (!pipe.fill(next) && !fillCopy(next)) {
                return false;
            }
        }
        boolean piped = copy == null;
        int sent = piped ? socket.spliceFrom(pipe.pipe(), pipe.left())
                : socket.send(copy.address() + copy.memory().readerIndex(), copy.memory().readableBytes());
        if (!output.sent(sent, piped ? "splice" : "send")) {
            return true;
        }
        if (piped) {
            pipe.took(sent);
        } else if (!copy.memory().skipBytes(sent).isReadable()) {
            discardCopy();
        }
        boolean last = isEmpty() && next.transferred() >= next.count();
        in.progress(sent);
        // A listener of the progress may have closed the channel.
        if (last && in.current() == next) {
            in.remove();
        }
        return true;
    }

    private boolean isEmpty() {
        return copy == null && pipe.isEmpty();
    }

    private boolean fillCopy(FileRegion next) throws IOException {
        copy = engine.sendBuffers().acquire();
        region = next;
        int length = 0;
        try {
            length = copy.append(next, SendBufferPool.CAPACITY);
        } finally {
            if (length == 0) {
                discardCopy();
            }
        }
        return length > 0;
    }

    private void discardCopy() {
        region = null;
        if (copy != null) {
            copy.release();
            copy = null;
        }
    }

    /** Gives everything back, after the last byte or before it. */
    void release() {
        pipe.discard();
        discardCopy();
    }
}
