// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.DefaultDatagramChannelConfig;

import java.net.DatagramSocket;

/** The socket's options, and those of the channel that reads and writes. */
final class UcxDatagramChannelConfig extends DefaultDatagramChannelConfig {

    private final UcxDatagramChannel channel;
    /** {@code null} while the superclass's constructor runs. */
    private final ChannelConfig nio;

    UcxDatagramChannelConfig(UcxDatagramChannel channel, DatagramSocket socket, ChannelConfig nio) {
        super(channel, socket);
        this.channel = channel;
        this.nio = nio;
    }

    boolean isActiveOnRegistration() {
        return getOption(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION);
    }

    @Override
    protected void autoReadCleared() {
        if (channel.isRegistered()) {
            channel.cancelRead();
        }
    }

    @Override
    public DatagramChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        if (nio != null) {
            nio.setRecvByteBufAllocator(allocator);
        }
        return this;
    }

    @Override
    public DatagramChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        if (nio != null) {
            nio.setAllocator(allocator);
        }
        return this;
    }
}
