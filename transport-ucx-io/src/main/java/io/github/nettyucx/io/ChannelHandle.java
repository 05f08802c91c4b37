// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.netty.channel.Channel;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;

/** A channel of this transport as Netty's event loops count it. Its events do not come through the loop. */
final class ChannelHandle implements IoHandle {

    private final Channel channel;

    ChannelHandle(Channel channel) {
        this.channel = channel;
    }

    Channel channel() {
        return channel;
    }

    @Override
    public void handle(IoRegistration registration, IoEvent event) {
        throw new UnsupportedOperationException("the channels of this transport have no events: " + event);
    }

    @Override
    public void close() {
        channel.unsafe().close(channel.unsafe().voidPromise());
    }
}
