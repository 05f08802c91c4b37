// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.ChannelOption;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;

import java.util.Map;
import java.util.Objects;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * Options of a {@link UcxServerSocketChannel}: those of the kernel socket that it listens on. {@code SO_REUSEADDR} is on
 * by default, as with Netty's other transports. {@code SO_RCVBUF} here is only the size of the sockets' buffers; the
 * window of connections is set on the children. Any thread may call.
 */
public final class UcxServerSocketChannelConfig extends UcxChannelConfig<UcxServerSocketChannelConfig>
        implements ServerSocketChannelConfig {

    private volatile int backlog = NetUtil.SOMAXCONN;
    /** Of the children that are not told otherwise; {@code null} if nobody has said anything. */
    private volatile UcxPlainPeers plainPeers;
    private final SocketOptions socketOptions;

    UcxServerSocketChannelConfig(UcxServerSocketChannel channel) {
        super(channel, new ServerChannelRecvByteBufAllocator());
        socketOptions = new SocketOptions(channel, Map.of());
        socketOptions.set(SocketSetting.REUSE_ADDRESS, true);
        // A property that makes no sense, or a secret that cannot be read, is told now, and not with the first client.
        ConfiguredDefaults.secret();
    }

    /** Those of the kernel's socket. */
    SocketOptions socketOptions() {
        return socketOptions;
    }

    @Override
    OptionTable<UcxServerSocketChannelConfig> table() {
        return Options.TABLE;
    }

    private static final class Options {
        static final OptionTable<UcxServerSocketChannelConfig> TABLE = new OptionTable<UcxServerSocketChannelConfig>()
                .with(ChannelOption.SO_BACKLOG, c -> c.getBacklog(), (c, v) -> c.setBacklog(v))
                .with(ChannelOption.SO_REUSEADDR, c -> c.isReuseAddress(), (c, v) -> c.setReuseAddress(v))
                .with(ChannelOption.SO_RCVBUF, c -> c.getReceiveBufferSize(), (c, v) -> c.setReceiveBufferSize(v))
                .with(UcxChannelOption.SO_REUSEPORT, c -> c.isReusePort(), (c, v) -> c.setReusePort(v))
                .with(UcxChannelOption.PLAIN_PEERS, c -> c.plainPeers(), (c, v) -> c.setPlainPeers(v));
    }

    @Override
    boolean setOther(ChannelOption<?> option, Object value) {
        return OtherTransportsOptions.setOnServer(socketOptions, option, value);
    }

    @Override
    Object getOther(ChannelOption<?> option) {
        return OtherTransportsOptions.isReusePort(option) ? isReusePort() : null;
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
        return socketOptions.get(SocketSetting.REUSE_ADDRESS, 0) != 0;
    }

    @Override
    public UcxServerSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        socketOptions.set(SocketSetting.REUSE_ADDRESS, reuseAddress);
        return this;
    }

    /** See {@link UcxChannelOption#SO_REUSEPORT}. */
    public boolean isReusePort() {
        return socketOptions.get(SocketSetting.REUSE_PORT, 0) != 0;
    }

    /** See {@link UcxChannelOption#SO_REUSEPORT}. */
    public UcxServerSocketChannelConfig setReusePort(boolean reusePort) {
        socketOptions.set(SocketSetting.REUSE_PORT, reusePort);
        return this;
    }

    /** What was set here for the children; {@code null} if nothing was. See {@link UcxChannelOption#PLAIN_PEERS}. */
    public UcxPlainPeers plainPeers() {
        return plainPeers;
    }

    /** What the children have that are not told otherwise. See {@link UcxChannelOption#PLAIN_PEERS}. */
    public UcxServerSocketChannelConfig setPlainPeers(UcxPlainPeers peers) {
        plainPeers = Objects.requireNonNull(peers, "peers");
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return socketOptions.get(SocketSetting.RECEIVE_BUFFER, UcxSocketChannelConfig.DEFAULT_WINDOW);
    }

    /**
     * @throws IllegalArgumentException if not positive
     */
    @Override
    public UcxServerSocketChannelConfig setReceiveBufferSize(int bytes) {
        socketOptions.set(SocketSetting.RECEIVE_BUFFER, checkPositive(bytes, "SO_RCVBUF"));
        return this;
    }

    /** Has no effect, as on Netty's other transports. */
    @Override
    public UcxServerSocketChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }
}
