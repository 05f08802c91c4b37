// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

/**
 * Sizes and offsets, in bytes, of the structs that calls take. {@code SocketLayoutsTest} compares them with the headers
 * of the machine it runs on. Only {@link EpollEvent} differs between x86-64 and aarch64.
 */
final class SocketLayouts {

    private SocketLayouts() {
    }

    /** {@code struct sockaddr_in}. */
    static final class SockAddrIn {
        static final int SIZE = 16;
        static final int FAMILY = 0;
        static final int PORT = 2;
        static final int ADDR = 4;
    }

    /** {@code struct sockaddr_in6}. */
    static final class SockAddrIn6 {
        static final int SIZE = 28;
        static final int FAMILY = 0;
        static final int PORT = 2;
        static final int ADDR = 8;
        static final int SCOPE_ID = 24;
    }

    /** {@code struct sockaddr_un}. */
    static final class SockAddrUn {
        static final int SIZE = 110;
        static final int FAMILY = 0;
        static final int PATH = 2;
    }

    /** {@code struct sockaddr_storage}. */
    static final class SockAddrStorage {
        static final int SIZE = 128;
    }

    /** {@code struct msghdr}. */
    static final class MsgHdr {
        static final int SIZE = 56;
        static final int NAME = 0;
        static final int NAMELEN = 8;
        static final int IOV = 16;
        static final int IOVLEN = 24;
        static final int CONTROL = 32;
        static final int CONTROLLEN = 40;
        static final int FLAGS = 48;
    }

    /** {@code struct tcp_info}, as far as the last field that is used. */
    static final class TcpInfo {
        static final int SIZE = 60;
        static final int STATE = 0;
        static final int RETRANSMITS = 2;
        static final int PROBES = 3;
        static final int LAST_DATA_RECV = 52;
        static final int LAST_ACK_RECV = 56;
    }

    /** {@code struct iovec}. */
    static final class IoVec {
        static final int SIZE = 16;
        static final int BASE = 0;
        static final int LEN = 8;
    }

    /** {@code struct linger}. */
    static final class Linger {
        static final int SIZE = 8;
        static final int ONOFF = 0;
        static final int LINGER = 4;
    }

    /** {@code struct sock_fprog}. */
    static final class SockFprog {
        static final int SIZE = 16;
        static final int LEN = 0;
        static final int FILTER = 8;
    }

    /** {@code struct sock_filter}. */
    static final class SockFilter {
        static final int SIZE = 8;
        static final int CODE = 0;
    }

    /** {@code struct timespec}. */
    static final class TimeSpec {
        static final int SIZE = 16;
        static final int SEC = 0;
        static final int NSEC = 8;
    }

    /** {@code struct itimerspec}. */
    static final class ITimerSpec {
        static final int SIZE = 32;
        static final int VALUE = 16;
    }

    /** {@code struct group_req}. */
    static final class GroupReq {
        static final int SIZE = 136;
        static final int INTERFACE = 0;
        static final int GROUP = 8;
    }

    /** {@code struct group_source_req}. */
    static final class GroupSourceReq {
        static final int SIZE = 264;
        static final int SOURCE = 136;
    }

    /** {@code struct ip_mreqn}. */
    static final class IpMreqn {
        static final int SIZE = 12;
        static final int IFINDEX = 8;
    }

    /** {@code struct epoll_event}: packed on x86-64, padded elsewhere. */
    static final class EpollEvent {
        private static final boolean PACKED = isPacked(System.getProperty("os.arch"));
        static final int SIZE = PACKED ? 12 : 16;
        static final int EVENTS = 0;
        static final int DATA = PACKED ? 4 : 8;

        static boolean isPacked(String architecture) {
            return architecture.equals("amd64") || architecture.equals("x86_64");
        }
    }
}
