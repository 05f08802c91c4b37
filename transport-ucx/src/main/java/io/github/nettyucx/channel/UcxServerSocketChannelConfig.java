// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;

import java.util.Map;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * Options of a {@link UcxServerSocketChannel}. {@code SO_BACKLOG} bounds the connections that wait while the channel
 * does not accept; {@code SO_RCVBUF} and {@code SO_REUSEADDR} are accepted and kept, without effect (set
 * {@code SO_RCVBUF} on the children). Any thread may call.
 */
public final class UcxServerSocketChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {

    private volatile int backlog = NetUtil.SOMAXCONN;
    private volatile boolean reuseAddress;
    private volatile int receiveBufferSize = UcxSocketChannelConfig.DEFAULT_WINDOW;
    private volatile int handshakeTimeoutMillis = UcxSocketChannelConfig.DEFAULT_HANDSHAKE_TIMEOUT_MILLIS;

    UcxServerSocketChannelConfig(UcxServerSocketChannel channel) {
        super(channel, new ServerChannelRecvByteBufAllocator());
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), ChannelOption.SO_BACKLOG, ChannelOption.SO_REUSEADDR,
                ChannelOption.SO_RCVBUF, UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS);
    }

    @SuppressWarnings("unchecked")
    @Override
    public <T> T getOption(ChannelOption<T> option) {
        Object value;
        if (option == ChannelOption.SO_BACKLOG) {
            value = getBacklog();
        } else if (option == ChannelOption.SO_REUSEADDR) {
            value = isReuseAddress();
        } else if (option == ChannelOption.SO_RCVBUF) {
            value = getReceiveBufferSize();
        } else if (option == UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS) {
            value = getHandshakeTimeoutMillis();
        } else {
            return super.getOption(option);
        }
        return (T) value;
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == ChannelOption.SO_BACKLOG) {
            setBacklog((Integer) value);
        } else if (option == ChannelOption.SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
        } else if (option == ChannelOption.SO_RCVBUF) {
            setReceiveBufferSize((Integer) value);
        } else if (option == UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS) {
            setHandshakeTimeoutMillis((Integer) value);
        } else {
            return super.setOption(option, value);
        }
        return true;
    }

    @Override
    public int getBacklog() {
        return backlog;
    }

    /**
     * @throws IllegalArgumentException if negative
     */
    @Override
    public UcxServerSocketChannelConfig setBacklog(int backlog) {
        this.backlog = checkPositiveOrZero(backlog, "SO_BACKLOG");
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public UcxServerSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        this.reuseAddress = reuseAddress;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    /**
     * @throws IllegalArgumentException if not positive
     */
    @Override
    public UcxServerSocketChannelConfig setReceiveBufferSize(int bytes) {
        receiveBufferSize = checkPositive(bytes, "SO_RCVBUF");
        return this;
    }

    /**
     * How long a TCP connection may take to become a request, and how long a request may wait to be accepted, in
     * milliseconds.
     */
    public int getHandshakeTimeoutMillis() {
        return handshakeTimeoutMillis;
    }

    /**
     * @throws IllegalArgumentException if not positive
     */
    public UcxServerSocketChannelConfig setHandshakeTimeoutMillis(int millis) {
        handshakeTimeoutMillis = checkPositive(millis, "HANDSHAKE_TIMEOUT_MILLIS");
        return this;
    }

    /** Has no effect, as on Netty's other transports. */
    @Override
    public UcxServerSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    protected void autoReadCleared() {
        ((UcxServerSocketChannel) channel).autoReadCleared();
    }

    // Netty's setters, with this class as their result.

    @Override
    public UcxServerSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public UcxServerSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public UcxServerSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public UcxServerSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public UcxServerSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public UcxServerSocketChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public UcxServerSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public UcxServerSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
        super.setWriteBufferWaterMark(waterMark);
        return this;
    }

    @Override
    @Deprecated
    public UcxServerSocketChannelConfig setWriteBufferHighWaterMark(int highWaterMark) {
        super.setWriteBufferHighWaterMark(highWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public UcxServerSocketChannelConfig setWriteBufferLowWaterMark(int lowWaterMark) {
        super.setWriteBufferLowWaterMark(lowWaterMark);
        return this;
    }
}
