// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.Hello;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;

import java.util.Map;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * Options of a {@link UcxSocketChannel}. Any thread may call; options of the connection (the receive window) take
 * effect when it is made.
 * <table>
 * <caption>What the options of TCP mean here</caption>
 * <tr><td>{@code SO_RCVBUF}</td><td>the receive window: the most bytes that the peer may have sent and the application
 * has not read. 4 KiB to 128 MiB, 1 MiB by default</td></tr>
 * <tr><td>{@code SO_LINGER}</td><td>-1 (default): a close delivers what was flushed, as long as the peer reads;
 * 0: a close resets the connection; n: a close delivers for n seconds at most</td></tr>
 * <tr><td>{@code ALLOW_HALF_CLOSURE}</td><td>as everywhere in Netty</td></tr>
 * <tr><td>{@code SO_SNDBUF}, {@code SO_KEEPALIVE}, {@code SO_REUSEADDR}, {@code TCP_NODELAY},
 * {@code IP_TOS}</td><td>accepted and kept, without effect: UCX sends at once, and notices the death of a peer by
 * itself</td></tr>
 * </table>
 */
public final class UcxSocketChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {

    static final int DEFAULT_WINDOW = 1024 * 1024;
    static final int DEFAULT_HANDSHAKE_TIMEOUT_MILLIS = 10_000;
    private static final int DEFAULT_CLOSE_TIMEOUT_MILLIS = 10_000;

    /** Four messages of the largest size fill the window, so that one is on its way while others are read. */
    private static final int MESSAGES_PER_WINDOW = 4;

    private volatile int receiveBufferSize = DEFAULT_WINDOW;
    private volatile int sendBufferSize = DEFAULT_WINDOW;
    private volatile int soLinger = -1;
    private volatile int trafficClass;
    private volatile boolean keepAlive;
    private volatile boolean reuseAddress;
    private volatile boolean tcpNoDelay = true;
    private volatile boolean allowHalfClosure;
    private volatile int handshakeTimeoutMillis = DEFAULT_HANDSHAKE_TIMEOUT_MILLIS;
    private volatile int closeTimeoutMillis = DEFAULT_CLOSE_TIMEOUT_MILLIS;

    UcxSocketChannelConfig(UcxSocketChannel channel) {
        super(channel);
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), ChannelOption.SO_RCVBUF, ChannelOption.SO_SNDBUF,
                ChannelOption.TCP_NODELAY, ChannelOption.SO_KEEPALIVE, ChannelOption.SO_REUSEADDR,
                ChannelOption.SO_LINGER, ChannelOption.IP_TOS, ChannelOption.ALLOW_HALF_CLOSURE,
                UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, UcxChannelOption.CLOSE_TIMEOUT_MILLIS);
    }

    @SuppressWarnings("unchecked")
    @Override
    public <T> T getOption(ChannelOption<T> option) {
        Object value;
        if (option == ChannelOption.SO_RCVBUF) {
            value = getReceiveBufferSize();
        } else if (option == ChannelOption.SO_SNDBUF) {
            value = getSendBufferSize();
        } else if (option == ChannelOption.TCP_NODELAY) {
            value = isTcpNoDelay();
        } else if (option == ChannelOption.SO_KEEPALIVE) {
            value = isKeepAlive();
        } else if (option == ChannelOption.SO_REUSEADDR) {
            value = isReuseAddress();
        } else if (option == ChannelOption.SO_LINGER) {
            value = getSoLinger();
        } else if (option == ChannelOption.IP_TOS) {
            value = getTrafficClass();
        } else if (option == ChannelOption.ALLOW_HALF_CLOSURE) {
            value = isAllowHalfClosure();
        } else if (option == UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS) {
            value = getHandshakeTimeoutMillis();
        } else if (option == UcxChannelOption.CLOSE_TIMEOUT_MILLIS) {
            value = getCloseTimeoutMillis();
        } else {
            return super.getOption(option);
        }
        return (T) value;
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == ChannelOption.SO_RCVBUF) {
            setReceiveBufferSize((Integer) value);
        } else if (option == ChannelOption.SO_SNDBUF) {
            setSendBufferSize((Integer) value);
        } else if (option == ChannelOption.TCP_NODELAY) {
            setTcpNoDelay((Boolean) value);
        } else if (option == ChannelOption.SO_KEEPALIVE) {
            setKeepAlive((Boolean) value);
        } else if (option == ChannelOption.SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
        } else if (option == ChannelOption.SO_LINGER) {
            setSoLinger((Integer) value);
        } else if (option == ChannelOption.IP_TOS) {
            setTrafficClass((Integer) value);
        } else if (option == ChannelOption.ALLOW_HALF_CLOSURE) {
            setAllowHalfClosure((Boolean) value);
        } else if (option == UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS) {
            setHandshakeTimeoutMillis((Integer) value);
        } else if (option == UcxChannelOption.CLOSE_TIMEOUT_MILLIS) {
            setCloseTimeoutMillis((Integer) value);
        } else {
            return super.setOption(option, value);
        }
        return true;
    }

    /** The receive window in bytes. */
    @Override
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    /**
     * Sets the receive window.
     *
     * @param bytes brought into the range of 4 KiB to 128 MiB, as kernels do it
     * @throws IllegalArgumentException if not positive
     */
    @Override
    public UcxSocketChannelConfig setReceiveBufferSize(int bytes) {
        receiveBufferSize = Math.clamp(checkPositive(bytes, "SO_RCVBUF"), Hello.MIN_WINDOW, Hello.MAX_WINDOW);
        return this;
    }

    /** The largest message that this side asks its peer to send, in bytes. */
    int maxMessage() {
        return receiveBufferSize / MESSAGES_PER_WINDOW;
    }

    @Override
    public int getSendBufferSize() {
        return sendBufferSize;
    }

    @Override
    public UcxSocketChannelConfig setSendBufferSize(int bytes) {
        sendBufferSize = checkPositive(bytes, "SO_SNDBUF");
        return this;
    }

    @Override
    public int getSoLinger() {
        return soLinger;
    }

    /**
     * @param seconds how long a close goes on delivering; 0 to reset the connection instead, negative for no limit as
     *                long as the peer reads
     */
    @Override
    public UcxSocketChannelConfig setSoLinger(int seconds) {
        soLinger = Math.max(-1, seconds);
        return this;
    }

    @Override
    public int getTrafficClass() {
        return trafficClass;
    }

    @Override
    public UcxSocketChannelConfig setTrafficClass(int trafficClass) {
        this.trafficClass = trafficClass;
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return keepAlive;
    }

    @Override
    public UcxSocketChannelConfig setKeepAlive(boolean keepAlive) {
        this.keepAlive = keepAlive;
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public UcxSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        this.reuseAddress = reuseAddress;
        return this;
    }

    @Override
    public boolean isTcpNoDelay() {
        return tcpNoDelay;
    }

    @Override
    public UcxSocketChannelConfig setTcpNoDelay(boolean tcpNoDelay) {
        this.tcpNoDelay = tcpNoDelay;
        return this;
    }

    @Override
    public boolean isAllowHalfClosure() {
        return allowHalfClosure;
    }

    @Override
    public UcxSocketChannelConfig setAllowHalfClosure(boolean allowHalfClosure) {
        this.allowHalfClosure = allowHalfClosure;
        return this;
    }

    /** Has no effect, as on Netty's other transports. */
    @Override
    public UcxSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    /** See {@link UcxChannelOption#HANDSHAKE_TIMEOUT_MILLIS}. */
    public int getHandshakeTimeoutMillis() {
        return handshakeTimeoutMillis;
    }

    /**
     * See {@link UcxChannelOption#HANDSHAKE_TIMEOUT_MILLIS}.
     *
     * @throws IllegalArgumentException if not positive
     */
    public UcxSocketChannelConfig setHandshakeTimeoutMillis(int millis) {
        handshakeTimeoutMillis = checkPositive(millis, "HANDSHAKE_TIMEOUT_MILLIS");
        return this;
    }

    /** See {@link UcxChannelOption#CLOSE_TIMEOUT_MILLIS}. */
    public int getCloseTimeoutMillis() {
        return closeTimeoutMillis;
    }

    /**
     * See {@link UcxChannelOption#CLOSE_TIMEOUT_MILLIS}.
     *
     * @throws IllegalArgumentException if negative
     */
    public UcxSocketChannelConfig setCloseTimeoutMillis(int millis) {
        closeTimeoutMillis = checkPositiveOrZero(millis, "CLOSE_TIMEOUT_MILLIS");
        return this;
    }

    @Override
    protected void autoReadCleared() {
        UcxSocketChannel socket = (UcxSocketChannel) channel;
        if (socket.isRegistered()) {
            EventLoop loop = socket.eventLoop();
            if (loop.inEventLoop()) {
                socket.cancelRead();
            } else {
                loop.execute(socket::cancelRead);
            }
        }
    }

    // Netty's setters, with this class as their result.

    @Override
    public UcxSocketChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public UcxSocketChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public UcxSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
        super.setWriteBufferWaterMark(waterMark);
        return this;
    }

    @Override
    @Deprecated
    public UcxSocketChannelConfig setWriteBufferHighWaterMark(int highWaterMark) {
        super.setWriteBufferHighWaterMark(highWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public UcxSocketChannelConfig setWriteBufferLowWaterMark(int lowWaterMark) {
        super.setWriteBufferLowWaterMark(lowWaterMark);
        return this;
    }
}
