// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;

import java.util.Map;

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

    /** The options that this kind of channel has beside those of all channels. */
    abstract OptionTable<C> table();

    /** @return whether the option is known from other transports, and has been set or means nothing here */
    abstract boolean setOther(ChannelOption<?> option, Object value);

    /** The value of such an option, or {@code null} if it is not known, or means nothing here. */
    abstract Object getOther(ChannelOption<?> option);

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), table().told());
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        OptionTable.Entry<C, T> entry = table().entry(option);
        if (entry != null && entry.getter() != null) {
            return entry.getter().apply(typed(this));
        }
        T value = super.getOption(option);
        return value != null ? value : (T) getOther(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        OptionTable.Entry<C, T> entry = table().entry(option);
        if (entry != null) {
            entry.setter().accept(typed(this), value);
            return true;
        }
        return setOther(option, value) || super.setOption(option, value);
    }

    @Override
    protected void autoReadCleared() {
        if (channel.isRegistered()) {
            EventLoop loop = channel.eventLoop();
            if (loop.inEventLoop()) {
                ((AbstractUcxChannel) channel).cancelAnyRead();
            } else {
                loop.execute(this::cancelAutomaticRead);
            }
        } else if (channel.isOpen()) {
            // No loop uses the channel: it has none yet, or has left one, and the next one must not go on with the read.
            ((AbstractUcxChannel) channel).cancelAnyRead();
        }
    }

    private void cancelAutomaticRead() {
        if (!isAutoRead()) {
            // Not switched on again meanwhile.
            ((AbstractUcxChannel) channel).cancelAutomaticRead();
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
        if (autoRead && !isAutoRead()) {
            ((AbstractUcxChannel) channel).readsAutomatically();
        }
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
