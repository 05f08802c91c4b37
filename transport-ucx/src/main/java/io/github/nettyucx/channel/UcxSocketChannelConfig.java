// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.SharedSecret;
import io.github.nettyucx.socket.SocketSetting;
import io.github.nettyucx.wire.Limits;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannelConfig;

import java.util.Map;
import java.util.Objects;

import static io.netty.util.internal.ObjectUtil.checkInRange;
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
 * <tr><td>{@code SO_SNDBUF}, {@code SO_REUSEADDR}, {@code TCP_NODELAY}, {@code IP_TOS}</td><td>the kernel socket's; they
 * matter where the connection's bytes go over it</td></tr>
 * <tr><td>{@code SO_KEEPALIVE}</td><td>the kernel socket's; between two peers of this transport it is on,
 * unless {@code io.github.nettyucx.peerTimeoutSeconds} is 0</td></tr>
 * </table>
 */
public final class UcxSocketChannelConfig extends UcxChannelConfig<UcxSocketChannelConfig>
        implements SocketChannelConfig {

    static final int DEFAULT_WINDOW = 1024 * 1024;
    static final int DEFAULT_HANDSHAKE_TIMEOUT_MILLIS = 10_000;
    private static final int DEFAULT_CLOSE_TIMEOUT_MILLIS = 10_000;

    /** Four messages of the largest size fill the window, so that one is on its way while others are read. */
    private static final int MESSAGES_PER_WINDOW = 4;

    private static final int MAX_TRAFFIC_CLASS = 255;

    /** Of the kernel's socket, as other transports of Netty's have it. */
    private static final Map<SocketSetting, Integer> INITIAL = Map.of(SocketSetting.NO_DELAY, 1);

    private final SocketOptions socketOptions;
    private volatile int soLinger = -1;
    private volatile boolean allowHalfClosure;
    private volatile LaneSet lanes = ConfiguredDefaults.LANES;
    private volatile UcxConnectMode connectMode = ConfiguredDefaults.CONNECT_MODE;
    /** {@code null} if nobody has said anything. */
    private volatile UcxPlainPeers plainPeers = ConfiguredDefaults.PLAIN_PEERS;
    private volatile int plainGraceMillis = Opening.PLAIN_GRACE_SETTING.value();
    private volatile SharedSecret secret = ConfiguredDefaults.secret();
    private volatile boolean translatedAddresses;
    private volatile int handshakeTimeoutMillis = DEFAULT_HANDSHAKE_TIMEOUT_MILLIS;
    private volatile int closeTimeoutMillis = DEFAULT_CLOSE_TIMEOUT_MILLIS;

    UcxSocketChannelConfig(UcxSocketChannel channel) {
        super(channel);
        socketOptions = new SocketOptions(channel, INITIAL);
    }

    /** Those of the kernel's socket. */
    SocketOptions socketOptions() {
        return socketOptions;
    }

    @Override
    OptionTable<UcxSocketChannelConfig> table() {
        return Options.TABLE;
    }

    private static final class Options {
        static final OptionTable<UcxSocketChannelConfig> TABLE = new OptionTable<UcxSocketChannelConfig>()
                .with(ChannelOption.SO_RCVBUF, c -> c.getReceiveBufferSize(), (c, v) -> c.setReceiveBufferSize(v))
                .with(ChannelOption.SO_SNDBUF, c -> c.getSendBufferSize(), (c, v) -> c.setSendBufferSize(v))
                .with(ChannelOption.TCP_NODELAY, c -> c.isTcpNoDelay(), (c, v) -> c.setTcpNoDelay(v))
                .with(ChannelOption.SO_KEEPALIVE, c -> c.isKeepAlive(), (c, v) -> c.setKeepAlive(v))
                .with(ChannelOption.SO_REUSEADDR, c -> c.isReuseAddress(), (c, v) -> c.setReuseAddress(v))
                .with(ChannelOption.SO_LINGER, c -> c.getSoLinger(), (c, v) -> c.setSoLinger(v))
                .with(ChannelOption.IP_TOS, c -> c.getTrafficClass(), (c, v) -> c.setTrafficClass(v))
                .with(ChannelOption.ALLOW_HALF_CLOSURE, c -> c.isAllowHalfClosure(), (c, v) -> c.setAllowHalfClosure(v))
                .with(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, c -> c.getHandshakeTimeoutMillis(),
                        (c, v) -> c.setHandshakeTimeoutMillis(v))
                .with(UcxChannelOption.CLOSE_TIMEOUT_MILLIS, c -> c.getCloseTimeoutMillis(),
                        (c, v) -> c.setCloseTimeoutMillis(v))
                .with(UcxChannelOption.LANES, c -> c.getLanes(), (c, v) -> c.setLanes(v))
                .with(UcxChannelOption.CONNECT_MODE, c -> c.connectMode(), (c, v) -> c.setConnectMode(v))
                .with(UcxChannelOption.PLAIN_PEERS, c -> c.plainPeersOrDefault(), (c, v) -> c.setPlainPeers(v))
                .with(UcxChannelOption.PLAIN_GRACE_MILLIS, c -> c.getPlainGraceMillis(),
                        (c, v) -> c.setPlainGraceMillis(v))
                .with(UcxChannelOption.SHARED_SECRET, null, (c, v) -> c.setSharedSecret(v))
                .with(UcxChannelOption.TRANSLATED_ADDRESSES, c -> c.isTranslatedAddresses(),
                        (c, v) -> c.setTranslatedAddresses(v));
    }

    @Override
    boolean setOther(ChannelOption<?> option, Object value) {
        return OtherTransportsOptions.setOnConnection(socketOptions, option, value);
    }

    @Override
    Object getOther(ChannelOption<?> option) {
        return OtherTransportsOptions.ofConnection(socketOptions, option);
    }

    /** The receive window in bytes; where the bytes go over the socket, also the kernel's buffer if it has been set. */
    @Override
    public int getReceiveBufferSize() {
        return socketOptions.get(SocketSetting.RECEIVE_BUFFER, DEFAULT_WINDOW);
    }

    /**
     * Sets the receive window, and the size of the socket's receive buffer, which the kernel otherwise chooses itself.
     *
     * @param bytes brought into the range of 4 KiB to 128 MiB, as kernels do it
     * @throws IllegalArgumentException if not positive
     */
    @Override
    public UcxSocketChannelConfig setReceiveBufferSize(int bytes) {
        socketOptions.set(SocketSetting.RECEIVE_BUFFER,
                Math.clamp(checkPositive(bytes, "SO_RCVBUF"), Limits.MIN_WINDOW, Limits.MAX_WINDOW));
        return this;
    }

    /** What is announced to the peer, in bytes. */
    int window() {
        return getReceiveBufferSize();
    }

    /** The largest message that this side asks its peer to send, in bytes. */
    int maxMessage() {
        return window() / MESSAGES_PER_WINDOW;
    }

    @Override
    public int getSendBufferSize() {
        return socketOptions.get(SocketSetting.SEND_BUFFER, DEFAULT_WINDOW);
    }

    @Override
    public UcxSocketChannelConfig setSendBufferSize(int bytes) {
        socketOptions.set(SocketSetting.SEND_BUFFER, checkPositive(bytes, "SO_SNDBUF"));
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
        return socketOptions.get(SocketSetting.TRAFFIC_CLASS, 0);
    }

    /** @throws IllegalArgumentException if not from 0 to 255 */
    @Override
    public UcxSocketChannelConfig setTrafficClass(int trafficClass) {
        socketOptions.set(SocketSetting.TRAFFIC_CLASS, checkInRange(trafficClass, 0, MAX_TRAFFIC_CLASS, "IP_TOS"));
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return socketOptions.get(SocketSetting.KEEP_ALIVE, 0) != 0;
    }

    @Override
    public UcxSocketChannelConfig setKeepAlive(boolean keepAlive) {
        socketOptions.set(SocketSetting.KEEP_ALIVE, keepAlive);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return socketOptions.get(SocketSetting.REUSE_ADDRESS, 0) != 0;
    }

    @Override
    public UcxSocketChannelConfig setReuseAddress(boolean reuseAddress) {
        socketOptions.set(SocketSetting.REUSE_ADDRESS, reuseAddress);
        return this;
    }

    @Override
    public boolean isTcpNoDelay() {
        return socketOptions.get(SocketSetting.NO_DELAY, 1) != 0;
    }

    @Override
    public UcxSocketChannelConfig setTcpNoDelay(boolean tcpNoDelay) {
        socketOptions.set(SocketSetting.NO_DELAY, tcpNoDelay);
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

    /** See {@link UcxChannelOption#LANES}. */
    public String getLanes() {
        return lanes.toString();
    }

    /**
     * See {@link UcxChannelOption#LANES}.
     *
     * @throws IllegalArgumentException if it is no list of lanes
     */
    public UcxSocketChannelConfig setLanes(String list) {
        lanes = LaneSet.parse(list);
        return this;
    }

    LaneSet laneSet() {
        return lanes;
    }

    /** See {@link UcxChannelOption#CONNECT_MODE}. */
    public UcxConnectMode connectMode() {
        return connectMode;
    }

    /** See {@link UcxChannelOption#CONNECT_MODE}. */
    public UcxSocketChannelConfig setConnectMode(UcxConnectMode mode) {
        connectMode = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /** What its server gives it, before the application says anything. */
    void inherit(UcxServerSocketChannelConfig server) {
        if (server.plainPeers() != null) {
            plainPeers = server.plainPeers();
        }
    }

    UcxPlainPeers plainPeersOrDefault() {
        UcxPlainPeers chosen = plainPeers;
        return chosen != null ? chosen : secret != null ? UcxPlainPeers.REFUSE : UcxPlainPeers.SPEAKING;
    }

    /** See {@link UcxChannelOption#PLAIN_PEERS}. */
    public UcxSocketChannelConfig setPlainPeers(UcxPlainPeers peers) {
        plainPeers = Objects.requireNonNull(peers, "peers");
        return this;
    }

    /** See {@link UcxChannelOption#PLAIN_GRACE_MILLIS}. */
    public int getPlainGraceMillis() {
        return plainGraceMillis;
    }

    /**
     * See {@link UcxChannelOption#PLAIN_GRACE_MILLIS}.
     *
     * @throws IllegalArgumentException if not positive
     */
    public UcxSocketChannelConfig setPlainGraceMillis(int millis) {
        plainGraceMillis = checkPositive(millis, "PLAIN_GRACE_MILLIS");
        return this;
    }

    /**
     * See {@link UcxChannelOption#SHARED_SECRET}; the bytes are copied.
     *
     * @throws IllegalArgumentException if it has fewer than 16 bytes or more than 4096
     */
    public UcxSocketChannelConfig setSharedSecret(byte[] bytes) {
        secret = SharedSecret.of(bytes);
        return this;
    }

    SharedSecret secret() {
        return secret;
    }

    /** See {@link UcxChannelOption#TRANSLATED_ADDRESSES}. */
    public boolean isTranslatedAddresses() {
        return translatedAddresses;
    }

    /** See {@link UcxChannelOption#TRANSLATED_ADDRESSES}. */
    public UcxSocketChannelConfig setTranslatedAddresses(boolean allowed) {
        translatedAddresses = allowed;
        return this;
    }
}
