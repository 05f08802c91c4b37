// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/** What takes away the buffers that come first among what the application has flushed, when they have been sent. */
abstract class FlushedBuffers {

    /** Bytes that have been sent, and are to be taken away. */
    private int left;

    /**
     * Takes away so many bytes that have been sent, and empty buffers behind them. As
     * {@link ChannelOutboundBuffer#removeBytes} does it, but there may be fewer bytes than that: Netty fails what is there
     * when a listener of one of these promises closes the channel, or when a write throws.
     */
    final void remove(ChannelOutboundBuffer in, int bytes) {
        left = bytes;
        removeRest(in);
    }

    /** Goes on where a listener of one of the promises does not return. */
    final void removeRest(ChannelOutboundBuffer in) {
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
