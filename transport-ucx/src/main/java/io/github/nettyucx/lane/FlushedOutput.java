// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/** Sends what the application has flushed. Here: what becomes of the buffers that come first, when they have been sent. */
abstract class FlushedOutput {

    /** A call is under way that does promises, whose listeners may call again. */
    boolean writing;
    /** Bytes that have been sent, and are to be taken away. */
    private int left;

    /** Gives back what has been gathered for a message, and has not been sent. */
    abstract void forgetGathered();

    /** A listener of a promise that was done in here does not return, and the next write has to go on from here. */
    final void resume(ChannelOutboundBuffer in) {
        if (writing) {
            forgetGathered();
            if (in != null) {
                removeRest(in);
            }
            writing = false;
        }
    }

    /**
     * Takes away so many bytes that have been sent, and empty buffers behind them. As
     * {@link ChannelOutboundBuffer#removeBytes} does it, but there may be fewer bytes than that: Netty fails what is there
     * when a listener of one of these promises closes the channel, or when a write throws.
     */
    final void remove(ChannelOutboundBuffer in, int bytes) {
        left = bytes;
        removeRest(in);
    }

    private void removeRest(ChannelOutboundBuffer in) {
        while (in.current() instanceof ByteBuf message) {
            int readable = message.readableBytes();
            if (readable > left) {
                int part = left;
                left = 0;
                if (part > 0) {
                    message.readerIndex(message.readerIndex() + part);
                    in.progress(part);
                }
                return;
            }
            if (left > 0) {
                in.progress(readable);
                left -= readable;
            }
            in.remove();
        }
    }
}
