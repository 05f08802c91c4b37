// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;

/**
 * What the options of all kinds of channels have in common.
 *
 * @param <C> what the setters return: the type by which the application knows the options
 */
abstract class UcxChannelConfig<C extends ChannelConfig> extends DefaultChannelConfig {

    UcxChannelConfig(AbstractUcxChannel channel) {
        super(channel);
    }

    UcxChannelConfig(AbstractUcxChannel channel, RecvByteBufAllocator allocator) {
        super(channel, allocator);
    }

    @Override
    protected void autoReadCleared() {
        if (channel.isRegistered()) {
            EventLoop loop = channel.eventLoop();
            if (loop.inEventLoop()) {
                cancelRead();
            } else {
                loop.execute(this::cancelRead);
            }
        }
    }

    private void cancelRead() {
        if (!isAutoRead()) {
            // Not switched on again meanwhile.
            ((AbstractUcxChannel) channel).cancelRead();
        }
    }

    // Netty's setters, with another type as their result. They all return this object.

    @SuppressWarnings("unchecked")
    private C typed(ChannelConfig self) {
        return (C) self;
    }

    @Override
    public C setConnectTimeoutMillis(int connectTimeoutMillis) {
        return typed(super.setConnectTimeoutMillis(connectTimeoutMillis));
    }

    @Override
    @Deprecated
    public C setMaxMessagesPerRead(int maxMessagesPerRead) {
        return typed(super.setMaxMessagesPerRead(maxMessagesPerRead));
    }

    @Override
    public C setWriteSpinCount(int writeSpinCount) {
        return typed(super.setWriteSpinCount(writeSpinCount));
    }

    @Override
    public C setAllocator(ByteBufAllocator allocator) {
        return typed(super.setAllocator(allocator));
    }

    @Override
    public C setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        return typed(super.setRecvByteBufAllocator(allocator));
    }

    @Override
    public C setAutoRead(boolean autoRead) {
        return typed(super.setAutoRead(autoRead));
    }

    @Override
    public C setAutoClose(boolean autoClose) {
        return typed(super.setAutoClose(autoClose));
    }

    @Override
    public C setMessageSizeEstimator(MessageSizeEstimator estimator) {
        return typed(super.setMessageSizeEstimator(estimator));
    }

    @Override
    public C setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
        return typed(super.setWriteBufferWaterMark(waterMark));
    }

    @Override
    @Deprecated
    public C setWriteBufferHighWaterMark(int highWaterMark) {
        return typed(super.setWriteBufferHighWaterMark(highWaterMark));
    }

    @Override
    @Deprecated
    public C setWriteBufferLowWaterMark(int lowWaterMark) {
        return typed(super.setWriteBufferLowWaterMark(lowWaterMark));
    }
}
