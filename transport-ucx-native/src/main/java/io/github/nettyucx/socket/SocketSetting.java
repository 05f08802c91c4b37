// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static io.github.nettyucx.socket.SocketConstants.IPPROTO_IP;
import static io.github.nettyucx.socket.SocketConstants.IPPROTO_IPV6;
import static io.github.nettyucx.socket.SocketConstants.IPPROTO_TCP;
import static io.github.nettyucx.socket.SocketConstants.SOL_SOCKET;

/**
 * The options of a socket that are one number. A switch is 0 or 1. What is too large or too small the kernel refuses,
 * or takes the nearest it can; {@link KernelSocket#get} says what it took.
 */
public enum SocketSetting {
    REUSE_ADDRESS(SOL_SOCKET, SocketConstants.SO_REUSEADDR),
    REUSE_PORT(SOL_SOCKET, SocketConstants.SO_REUSEPORT),
    KEEP_ALIVE(SOL_SOCKET, SocketConstants.SO_KEEPALIVE),
    /** Seconds, 1 to 32767. */
    KEEP_IDLE_SECONDS(IPPROTO_TCP, SocketConstants.TCP_KEEPIDLE),
    /** Seconds, 1 to 32767. */
    KEEP_INTERVAL_SECONDS(IPPROTO_TCP, SocketConstants.TCP_KEEPINTVL),
    /** 1 to 127 probes. */
    KEEP_COUNT(IPPROTO_TCP, SocketConstants.TCP_KEEPCNT),
    NO_DELAY(IPPROTO_TCP, SocketConstants.TCP_NODELAY),
    /** Milliseconds that sent bytes may go unacknowledged before the connection is lost; 0: the system's choice. */
    USER_TIMEOUT_MILLIS(IPPROTO_TCP, SocketConstants.TCP_USER_TIMEOUT),
    /** Bytes; the kernel doubles what it is given, and reports the double. */
    SEND_BUFFER(SOL_SOCKET, SocketConstants.SO_SNDBUF),
    /** Bytes; the kernel doubles what it is given, and reports the double. */
    RECEIVE_BUFFER(SOL_SOCKET, SocketConstants.SO_RCVBUF),
    /** 0 to 255. */
    TRAFFIC_CLASS(IPPROTO_IP, SocketConstants.IP_TOS, IPPROTO_IPV6, SocketConstants.IPV6_TCLASS),
    BROADCAST(SOL_SOCKET, SocketConstants.SO_BROADCAST),
    /** Of an IPv6 socket, before it is bound. */
    V6_ONLY(IPPROTO_IPV6, SocketConstants.IPV6_V6ONLY),
    MULTICAST_LOOP(IPPROTO_IP, SocketConstants.IP_MULTICAST_LOOP, IPPROTO_IPV6, SocketConstants.IPV6_MULTICAST_LOOP),
    /** 0 to 255 hops. */
    MULTICAST_TTL(IPPROTO_IP, SocketConstants.IP_MULTICAST_TTL, IPPROTO_IPV6, SocketConstants.IPV6_MULTICAST_HOPS);

    final int level;
    final int name;
    final int levelOfIpv6;
    final int nameOfIpv6;

    SocketSetting(int level, int name) {
        this(level, name, level, name);
    }

    SocketSetting(int level, int name, int levelOfIpv6, int nameOfIpv6) {
        this.level = level;
        this.name = name;
        this.levelOfIpv6 = levelOfIpv6;
        this.nameOfIpv6 = nameOfIpv6;
    }

    /** Whether IPv4 and IPv6 have an option each; a socket with both families has both. */
    boolean isPerFamily() {
        return level != levelOfIpv6;
    }
}
