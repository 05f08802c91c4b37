// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/** The buffers that come first among what the application has flushed. */
final class FlushedBuffers {

    private FlushedBuffers() {
    }

    /**
     * Takes away so many bytes that have been sent, and empty buffers behind them. As
     * {@link ChannelOutboundBuffer#removeBytes} does it, but there may be fewer bytes than that: Netty fails what is there
     * when a listener of one of these promises closes the channel, or when a write throws.
     */
    static void remove(ChannelOutboundBuffer in, int bytes) {
        int left = bytes;
        while (in.current() instanceof ByteBuf message) {
            int readable = message.readableBytes();
            if (readable > left) {
                if (left > 0) {
                    message.readerIndex(message.readerIndex() + left);
                    in.progress(left);
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
