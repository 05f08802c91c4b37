// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

/**
 * Numbers of Linux's headers that calls take. Those of sockets, {@code fcntl}, pipes and epoll that are here are the
 * same on x86-64 and aarch64; {@code SocketLayoutsTest} compares them with the headers of the machine it runs on.
 */
final class SocketConstants {
    static final int AF_UNSPEC = 0;
    static final int AF_UNIX = 1;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int SOCK_STREAM = 1;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int MSG_PEEK = 2;
    static final int MSG_TRUNC = 0x20;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int SHUT_RD = 0;
    static final int SHUT_WR = 1;
    static final int SHUT_RDWR = 2;
    static final int SIOCOUTQ = 0x5411;

    static final int SOL_SOCKET = 1;
    static final int SO_REUSEADDR = 2;
    static final int SO_TYPE = 3;
    static final int SO_ERROR = 4;
    static final int SO_BROADCAST = 6;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_KEEPALIVE = 9;
    static final int SO_LINGER = 13;
    static final int SO_REUSEPORT = 15;
    static final int SO_ATTACH_FILTER = 26;
    static final int SO_DOMAIN = 39;

    static final int BPF_LD = 0;
    static final int BPF_W = 0;
    static final int BPF_LEN = 0x80;
    static final int BPF_RET = 6;
    static final int BPF_A = 0x10;

    static final int IPPROTO_TCP = 6;
    static final int TCP_NODELAY = 1;
    static final int TCP_KEEPIDLE = 4;
    static final int TCP_KEEPINTVL = 5;
    static final int TCP_KEEPCNT = 6;
    static final int TCP_INFO = 11;
    /** Of TCP_INFO's state. */
    static final int TCP_SYN_SENT = 2;
    static final int TCP_USER_TIMEOUT = 18;

    static final int IPPROTO_IP = 0;
    static final int IP_TOS = 1;
    static final int IP_MULTICAST_IF = 32;
    static final int IP_MULTICAST_TTL = 33;
    static final int IP_MULTICAST_LOOP = 34;
    static final int IP_MULTICAST_ALL = 49;

    static final int IPPROTO_IPV6 = 41;
    static final int IPV6_MULTICAST_IF = 17;
    static final int IPV6_MULTICAST_HOPS = 18;
    static final int IPV6_MULTICAST_LOOP = 19;
    static final int IPV6_V6ONLY = 26;
    static final int IPV6_MULTICAST_ALL = 29;
    static final int IPV6_TCLASS = 67;

    static final int MCAST_JOIN_GROUP = 42;
    static final int MCAST_BLOCK_SOURCE = 43;
    static final int MCAST_LEAVE_GROUP = 45;
    static final int MCAST_JOIN_SOURCE_GROUP = 46;
    static final int MCAST_LEAVE_SOURCE_GROUP = 47;

    static final int EPOLL_CLOEXEC = 0x80000;
    static final int EPOLL_CTL_ADD = 1;
    static final int EPOLL_CTL_DEL = 2;
    static final int EPOLLIN = 1;
    static final int EPOLLOUT = 4;
    static final int EPOLLERR = 8;
    static final int EPOLLHUP = 0x10;
    static final int EPOLLRDHUP = 0x2000;
    static final int EPOLLET = 1 << 31;
    static final int EFD_CLOEXEC = 0x80000;
    static final int EFD_NONBLOCK = 0x800;
    static final int CLOCK_MONOTONIC = 1;
    static final int TFD_CLOEXEC = 0x80000;
    static final int TFD_NONBLOCK = 0x800;

    static final int O_WRONLY = 1;
    static final int O_NONBLOCK = 0x800;
    static final int O_CLOEXEC = 0x80000;
    static final int F_SETFL = 4;
    static final int F_SETPIPE_SZ = 1031;
    static final int SPLICE_F_MOVE = 1;
    static final int SPLICE_F_NONBLOCK = 2;
    static final int LC_MESSAGES_MASK = 1 << 5;

    private SocketConstants() {
    }
}
