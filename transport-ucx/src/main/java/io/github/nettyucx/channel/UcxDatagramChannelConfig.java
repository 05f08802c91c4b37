// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.EnumMap;
import java.util.Map;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

/**
 * The socket's options, and those of the channel that reads and writes. They are kept here, and the socket gets them
 * when it is made; later ones it gets at once on the loop's thread, and from other threads before what the loop is
 * given to do next. Any thread may call.
 */
final class UcxDatagramChannelConfig extends UcxChannelConfig<DatagramChannelConfig> implements DatagramChannelConfig {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxDatagramChannelConfig.class);

    /** Of the buffers that datagrams are received into, in bytes, unless the application says otherwise. */
    private static final int DATAGRAM_SIZE = 2048;
    private static final int MAX_BYTE = 255;
    /** The JDK's option, the contrary of Netty's. */
    private static final String MULTICAST_LOOP = "IP_MULTICAST_LOOP";
    /** What the kernel reports of a buffer, in terms of what was asked for. */
    private static final int KERNEL_OVERHEAD = 2;

    private final UcxDatagramChannel udp;
    /** What has been set, by whichever thread. Guarded by itself. */
    private final Map<SocketSetting, Integer> kept = new EnumMap<>(SocketSetting.class);
    private volatile NetworkInterface multicastInterface;
    private volatile boolean activeOnRegistration;

    UcxDatagramChannelConfig(UcxDatagramChannel channel) {
        super(channel, new FixedRecvByteBufAllocator(DATAGRAM_SIZE));
        udp = channel;
    }

    @Override
    OptionTable<DatagramChannelConfig> table() {
        return Options.TABLE;
    }

    private static final class Options {
        /** The last one is deprecated for users, who are to bind their channels; Netty's DNS resolver uses it. */
        @SuppressWarnings("deprecation")
        static final OptionTable<DatagramChannelConfig> TABLE = new OptionTable<DatagramChannelConfig>()
                .with(ChannelOption.SO_BROADCAST, c -> c.isBroadcast(), (c, v) -> c.setBroadcast(v))
                .with(ChannelOption.SO_RCVBUF, c -> c.getReceiveBufferSize(), (c, v) -> c.setReceiveBufferSize(v))
                .with(ChannelOption.SO_SNDBUF, c -> c.getSendBufferSize(), (c, v) -> c.setSendBufferSize(v))
                .with(ChannelOption.SO_REUSEADDR, c -> c.isReuseAddress(), (c, v) -> c.setReuseAddress(v))
                .with(ChannelOption.IP_TOS, c -> c.getTrafficClass(), (c, v) -> c.setTrafficClass(v))
                .with(ChannelOption.IP_MULTICAST_LOOP_DISABLED, c -> c.isLoopbackModeDisabled(),
                        (c, v) -> c.setLoopbackModeDisabled(v))
                .with(ChannelOption.IP_MULTICAST_ADDR, c -> c.getInterface(), (c, v) -> c.setInterface(v))
                .with(ChannelOption.IP_MULTICAST_IF, c -> c.getNetworkInterface(), (c, v) -> c.setNetworkInterface(v))
                .with(ChannelOption.IP_MULTICAST_TTL, c -> c.getTimeToLive(), (c, v) -> c.setTimeToLive(v))
                .with(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION,
                        c -> ((UcxDatagramChannelConfig) c).activeOnRegistration,
                        (c, v) -> ((UcxDatagramChannelConfig) c).setActiveOnRegistration(v));
    }

    @Override
    boolean setOther(ChannelOption<?> option, Object value) {
        if (OtherTransportsOptions.isReusePort(option)) {
            change(SocketSetting.REUSE_PORT, (Boolean) value ? 1 : 0);
            return true;
        }
        if (option.name().equals(MULTICAST_LOOP)) {
            setLoopbackModeDisabled(!(Boolean) value);
            return true;
        }
        return OtherTransportsOptions.hasNoEffect(option);
    }

    @Override
    Object getOther(ChannelOption<?> option) {
        if (OtherTransportsOptions.isReusePort(option)) {
            return isSet(SocketSetting.REUSE_PORT);
        }
        return option.name().equals(MULTICAST_LOOP) ? !isLoopbackModeDisabled() : null;
    }

    // ------------------------------------------------------------------------------------------- the socket's options

    /** Gives a new socket what has been set so far. What it does not take is logged, as Netty's bootstraps do. */
    void applyTo(KernelSocket socket) {
        Map<SocketSetting, Integer> all;
        synchronized (kept) {
            all = Map.copyOf(kept);
        }
        all.forEach((setting, value) -> {
            try {
                set(socket, setting, value);
            } catch (IOException e) {
                logger.warn("{} goes without {} = {}: {}", channel, setting, value, e.getMessage());
            }
        });
        NetworkInterface device = multicastInterface;
        if (device != null) {
            try {
                socket.groups().outgoing(device.getIndex());
            } catch (IOException e) {
                logger.warn("{} goes without {} for multicast: {}", channel, device, e.getMessage());
            }
        }
    }

    private void set(KernelSocket socket, SocketSetting setting, int value) throws IOException {
        socket.set(setting, value);
        if (isBufferSize(setting)) {
            // The kernel may have given less.
            keep(setting, socket.get(setting) / KERNEL_OVERHEAD);
        }
    }

    private static boolean isBufferSize(SocketSetting setting) {
        return setting == SocketSetting.RECEIVE_BUFFER || setting == SocketSetting.SEND_BUFFER;
    }

    private Integer keep(SocketSetting setting, Integer value) {
        synchronized (kept) {
            return value == null ? kept.remove(setting) : kept.put(setting, value);
        }
    }

    private Integer kept(SocketSetting setting) {
        synchronized (kept) {
            return kept.get(setting);
        }
    }

    private UcxDatagramChannelConfig change(SocketSetting setting, int value) {
        Integer before = keep(setting, value);
        try {
            udp.onSocket(socket -> set(socket, setting, value));
        } catch (IOException e) {
            keep(setting, before);
            throw new ChannelException(e);
        }
        return this;
    }

    private boolean isSet(SocketSetting setting) {
        Integer value = kept(setting);
        return value != null && value != 0;
    }

    private int bufferSize(SocketSetting setting) {
        Integer value = kept(setting);
        if (value != null) {
            return value;
        }
        // What any socket is born with: this one may not be yet, or be another thread's.
        try (KernelSocket example = KernelSocket.datagram(udp.isIpv6())) {
            return example.get(setting) / KERNEL_OVERHEAD;
        } catch (IOException e) {
            throw new ChannelException(e);
        }
    }

    /** Bytes, without what the kernel adds for its own use. */
    @Override
    public int getSendBufferSize() {
        return bufferSize(SocketSetting.SEND_BUFFER);
    }

    /** @throws IllegalArgumentException if not positive */
    @Override
    public DatagramChannelConfig setSendBufferSize(int bytes) {
        return change(SocketSetting.SEND_BUFFER, checkPositive(bytes, "SO_SNDBUF"));
    }

    /** Bytes, without what the kernel adds for its own use. */
    @Override
    public int getReceiveBufferSize() {
        return bufferSize(SocketSetting.RECEIVE_BUFFER);
    }

    /** @throws IllegalArgumentException if not positive */
    @Override
    public DatagramChannelConfig setReceiveBufferSize(int bytes) {
        return change(SocketSetting.RECEIVE_BUFFER, checkPositive(bytes, "SO_RCVBUF"));
    }

    @Override
    public int getTrafficClass() {
        Integer value = kept(SocketSetting.TRAFFIC_CLASS);
        return value == null ? 0 : value;
    }

    /** @throws IllegalArgumentException if not within 0 to 255 */
    @Override
    public DatagramChannelConfig setTrafficClass(int trafficClass) {
        return change(SocketSetting.TRAFFIC_CLASS, checkInRange(trafficClass, 0, MAX_BYTE, "IP_TOS"));
    }

    @Override
    public boolean isReuseAddress() {
        return isSet(SocketSetting.REUSE_ADDRESS);
    }

    @Override
    public DatagramChannelConfig setReuseAddress(boolean reuseAddress) {
        return change(SocketSetting.REUSE_ADDRESS, reuseAddress ? 1 : 0);
    }

    @Override
    public boolean isBroadcast() {
        return isSet(SocketSetting.BROADCAST);
    }

    @Override
    public DatagramChannelConfig setBroadcast(boolean broadcast) {
        return change(SocketSetting.BROADCAST, broadcast ? 1 : 0);
    }

    @Override
    public boolean isLoopbackModeDisabled() {
        Integer value = kept(SocketSetting.MULTICAST_LOOP);
        return value != null && value == 0;
    }

    @Override
    public DatagramChannelConfig setLoopbackModeDisabled(boolean loopbackModeDisabled) {
        return change(SocketSetting.MULTICAST_LOOP, loopbackModeDisabled ? 0 : 1);
    }

    @Override
    public int getTimeToLive() {
        Integer value = kept(SocketSetting.MULTICAST_TTL);
        return value == null ? 1 : value;
    }

    /** @throws IllegalArgumentException if not within 0 to 255 */
    @Override
    public DatagramChannelConfig setTimeToLive(int hops) {
        return change(SocketSetting.MULTICAST_TTL, checkInRange(hops, 0, MAX_BYTE, "IP_MULTICAST_TTL"));
    }

    /** The first address of {@link #getNetworkInterface()}; {@code null} without one. */
    @Override
    public InetAddress getInterface() {
        NetworkInterface device = multicastInterface;
        return device == null ? null : device.inetAddresses().findFirst().orElse(null);
    }

    /** @throws ChannelException if no network interface has the address */
    @Override
    public DatagramChannelConfig setInterface(InetAddress interfaceAddress) {
        try {
            NetworkInterface device = NetworkInterface.getByInetAddress(interfaceAddress);
            if (device == null) {
                throw new ChannelException("no network interface has the address " + interfaceAddress);
            }
            return setNetworkInterface(device);
        } catch (SocketException e) {
            throw new ChannelException(e);
        }
    }

    /** Which multicast is sent from; {@code null}: the system's choice. */
    @Override
    public NetworkInterface getNetworkInterface() {
        return multicastInterface;
    }

    @Override
    public DatagramChannelConfig setNetworkInterface(NetworkInterface networkInterface) {
        NetworkInterface before = multicastInterface;
        int index = networkInterface == null ? 0 : networkInterface.getIndex();
        multicastInterface = networkInterface;
        try {
            udp.onSocket(socket -> socket.groups().outgoing(index));
        } catch (IOException e) {
            multicastInterface = before;
            throw new ChannelException(e);
        }
        return this;
    }

    // ------------------------------------------------------------------------------------------- the channel's options

    boolean isActiveOnRegistration() {
        return activeOnRegistration;
    }

    private void setActiveOnRegistration(boolean active) {
        if (channel.isRegistered()) {
            throw new IllegalStateException("DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION is set before the registration");
        }
        activeOnRegistration = active;
    }
}
