// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.socket.SocketSetting;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The options of Netty's epoll, io_uring and NIO transports that mean something for any socket, or nothing here. They are known
 * by their names, as the classes that have them need not be there.
 */
final class OtherTransportsOptions {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(OtherTransportsOptions.class);

    private static final int UNSET = -1;
    private static final String REUSE_PORT = "SO_REUSEPORT";
    private static final Map<String, Numeric> OF_CONNECTIONS = Map.of(
            "TCP_KEEPIDLE", new Numeric(SocketSetting.KEEP_IDLE_SECONDS, 1, 32767),
            "TCP_KEEPINTVL", new Numeric(SocketSetting.KEEP_INTERVAL_SECONDS, 1, 32767),
            "TCP_KEEPCNT", new Numeric(SocketSetting.KEEP_COUNT, 1, 127),
            // The JDK's names of the last two, which NioChannelOption has.
            "TCP_KEEPINTERVAL", new Numeric(SocketSetting.KEEP_INTERVAL_SECONDS, 1, 32767),
            "TCP_KEEPCOUNT", new Numeric(SocketSetting.KEEP_COUNT, 1, 127),
            "TCP_USER_TIMEOUT", new Numeric(SocketSetting.USER_TIMEOUT_MILLIS, 0, Integer.MAX_VALUE));
    /** Accepted, because an application that sets them works as well without. */
    private static final Set<String> WITHOUT_EFFECT = Set.of("TCP_CORK", "TCP_NOTSENT_LOWAT", "TCP_DEFER_ACCEPT",
            "TCP_QUICKACK", "TCP_FASTOPEN", "TCP_FASTOPEN_CONNECT", "SO_BUSY_POLL", "EPOLL_MODE",
            "MAX_DATAGRAM_PAYLOAD_SIZE", "UDP_GRO", "IO_URING_BUFFER_GROUP_ID", "IO_URING_WRITE_ZERO_COPY_THRESHOLD");

    private static final Set<String> told = ConcurrentHashMap.newKeySet();

    private OtherTransportsOptions() {
    }

    /** An option that is a number, and the range that the kernel takes: beyond it a socket could not be opened. */
    private record Numeric(SocketSetting setting, int least, int most) {

        void set(SocketOptions options, ChannelOption<?> option, int value) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(option + ": " + value + " (expected: " + least + " to " + most + ')');
            }
            options.set(setting, value);
        }

        /** What was set, or what any socket is born with. */
        int get(SocketOptions options) {
            int set = options.get(setting, UNSET);
            if (set != UNSET) {
                return set;
            }
            try (KernelSocket example = KernelSocket.stream(false)) {
                return example.get(setting);
            } catch (IOException e) {
                throw new ChannelException(e);
            }
        }
    }

    /** @return whether the option is one of those */
    static boolean setOnServer(SocketOptions options, ChannelOption<?> option, Object value) {
        // Many servers are given what their connections are to have.
        return setReusePort(options, option, value) || OF_CONNECTIONS.containsKey(shortName(option))
                || hasNoEffect(option);
    }

    /**
     * @return whether the option is one of those
     * @throws IllegalArgumentException if out of range
     */
    static boolean setOnConnection(SocketOptions options, ChannelOption<?> option, Object value) {
        Numeric known = OF_CONNECTIONS.get(shortName(option));
        if (known != null && value instanceof Integer number) {
            known.set(options, option, number);
            return true;
        }
        return setReusePort(options, option, value) || hasNoEffect(option);
    }

    /** What a connection has of those that {@link #setOnConnection} knows; {@code null} of what has no effect. */
    static Object ofConnection(SocketOptions options, ChannelOption<?> option) {
        Numeric known = OF_CONNECTIONS.get(shortName(option));
        if (known != null) {
            return known.get(options);
        }
        return isReusePort(option) ? options.get(SocketSetting.REUSE_PORT, 0) != 0 : null;
    }

    private static boolean setReusePort(SocketOptions options, ChannelOption<?> option, Object value) {
        if (isReusePort(option) && value instanceof Boolean on) {
            options.set(SocketSetting.REUSE_PORT, on);
            return true;
        }
        return false;
    }

    /** Of datagrams too. @return whether the option is known to mean nothing here, which is told once */
    static boolean hasNoEffect(ChannelOption<?> option) {
        boolean known = WITHOUT_EFFECT.contains(shortName(option));
        if (known && told.add(option.name())) {
            logger.info("The option {} has no effect on the channels of this transport (said once).", option);
        }
        return known;
    }

    /** Whether it is another transport's {@code SO_REUSEPORT}. */
    static boolean isReusePort(ChannelOption<?> option) {
        return shortName(option).equals(REUSE_PORT);
    }

    /** Without the class that stands before it. */
    private static String shortName(ChannelOption<?> option) {
        String name = option.name();
        return name.substring(name.lastIndexOf('#') + 1);
    }
}
