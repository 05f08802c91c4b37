// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.worker.ProgressEngine;
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

    /** What has been taken and not been sent: in one of the two. */
    private final FilePipe pipe;
    private final RegionCopy copy;

    SocketFile(SocketOutput output, KernelSocket socket, ProgressEngine engine) {
        this.output = output;
        this.socket = socket;
        pipe = new FilePipe(engine.pipes());
        copy = new RegionCopy(engine.sendBuffers());
    }

    /**
     * Sends a part of the region that comes first, and removes it after its last one.
     *
     * @return false if the region gave nothing, although something is missing
     */
    boolean write(ChannelOutboundBuffer in, FileRegion next) throws IOException {
        pipe.keepOnly(next);
        copy.keepOnly(next);
        if (isEmpty()) {
            if (next.transferred() >= next.count()) {
                in.remove();
                return true;
            }
            if (!pipe.fill(next) && !copy.fill(next, SendBufferPool.CAPACITY)) {
                return false;
            }
        }
        boolean piped = copy.isEmpty();
        int sent = piped ? socket.spliceFrom(pipe.pipe(), pipe.left())
                : socket.send(copy.address(), copy.left());
        if (!output.sent(sent, piped ? "splice" : "send")) {
            return true;
        }
        if (piped) {
            pipe.took(sent);
        } else {
            copy.took(sent);
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
        return copy.isEmpty() && pipe.isEmpty();
    }

    /** Gives everything back, after the last byte or before it. */
    void release() {
        pipe.discard();
        copy.discard();
    }
}
