// SPDX-License-Identifier: Apache-2.0
/*
 * Prints every struct size, field offset, constant and error text that the socket package states on its own, as the
 * headers of this machine have it: "struct <class>.SIZE=<bytes>", "offset <class>.<FIELD>=<bytes>",
 * "const <NAME>=<value>", "errno <NAME>=<value>" and "text <value>=<text>".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <locale.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

#define STRUCT(_class, _type)          printf("struct " #_class ".SIZE=%zu\n", sizeof(_type))
#define OFFSET(_class, _name, _type, _field) \
    printf("offset " #_class "." #_name "=%zu\n", offsetof(_type, _field))
#define CONST(_name)                   printf("const " #_name "=%d\n", (int)(_name))
#define ERRNO(_name)                   printf("errno " #_name "=%d\ntext %d=%s\n", _name, _name, strerror(_name))

static void structs(void)
{
    STRUCT(SockAddrIn, struct sockaddr_in);
    OFFSET(SockAddrIn, FAMILY, struct sockaddr_in, sin_family);
    OFFSET(SockAddrIn, PORT, struct sockaddr_in, sin_port);
    OFFSET(SockAddrIn, ADDR, struct sockaddr_in, sin_addr);

    STRUCT(SockAddrIn6, struct sockaddr_in6);
    OFFSET(SockAddrIn6, FAMILY, struct sockaddr_in6, sin6_family);
    OFFSET(SockAddrIn6, PORT, struct sockaddr_in6, sin6_port);
    OFFSET(SockAddrIn6, ADDR, struct sockaddr_in6, sin6_addr);
    OFFSET(SockAddrIn6, SCOPE_ID, struct sockaddr_in6, sin6_scope_id);

    STRUCT(SockAddrUn, struct sockaddr_un);
    OFFSET(SockAddrUn, FAMILY, struct sockaddr_un, sun_family);
    OFFSET(SockAddrUn, PATH, struct sockaddr_un, sun_path);

    STRUCT(SockAddrStorage, struct sockaddr_storage);

    STRUCT(MsgHdr, struct msghdr);
    OFFSET(MsgHdr, NAME, struct msghdr, msg_name);
    OFFSET(MsgHdr, NAMELEN, struct msghdr, msg_namelen);
    OFFSET(MsgHdr, IOV, struct msghdr, msg_iov);
    OFFSET(MsgHdr, IOVLEN, struct msghdr, msg_iovlen);
    OFFSET(MsgHdr, CONTROL, struct msghdr, msg_control);
    OFFSET(MsgHdr, CONTROLLEN, struct msghdr, msg_controllen);
    OFFSET(MsgHdr, FLAGS, struct msghdr, msg_flags);

    /* It grows with each release; this is where the last field of these ends. */
    printf("struct TcpInfo.SIZE=%zu\n", offsetof(struct tcp_info, tcpi_last_ack_recv) + 4);
    OFFSET(TcpInfo, STATE, struct tcp_info, tcpi_state);
    OFFSET(TcpInfo, RETRANSMITS, struct tcp_info, tcpi_retransmits);
    OFFSET(TcpInfo, PROBES, struct tcp_info, tcpi_probes);
    OFFSET(TcpInfo, LAST_DATA_RECV, struct tcp_info, tcpi_last_data_recv);
    OFFSET(TcpInfo, LAST_ACK_RECV, struct tcp_info, tcpi_last_ack_recv);

    STRUCT(IoVec, struct iovec);
    OFFSET(IoVec, BASE, struct iovec, iov_base);
    OFFSET(IoVec, LEN, struct iovec, iov_len);

    STRUCT(Linger, struct linger);
    OFFSET(Linger, ONOFF, struct linger, l_onoff);
    OFFSET(Linger, LINGER, struct linger, l_linger);

    STRUCT(SockFprog, struct sock_fprog);
    OFFSET(SockFprog, LEN, struct sock_fprog, len);
    OFFSET(SockFprog, FILTER, struct sock_fprog, filter);

    STRUCT(SockFilter, struct sock_filter);
    OFFSET(SockFilter, CODE, struct sock_filter, code);

    STRUCT(TimeSpec, struct timespec);
    OFFSET(TimeSpec, SEC, struct timespec, tv_sec);
    OFFSET(TimeSpec, NSEC, struct timespec, tv_nsec);

    STRUCT(ITimerSpec, struct itimerspec);
    OFFSET(ITimerSpec, VALUE, struct itimerspec, it_value);

    STRUCT(GroupReq, struct group_req);
    OFFSET(GroupReq, INTERFACE, struct group_req, gr_interface);
    OFFSET(GroupReq, GROUP, struct group_req, gr_group);

    STRUCT(GroupSourceReq, struct group_source_req);
    OFFSET(GroupSourceReq, SOURCE, struct group_source_req, gsr_source);

    STRUCT(IpMreqn, struct ip_mreqn);
    OFFSET(IpMreqn, IFINDEX, struct ip_mreqn, imr_ifindex);

    STRUCT(EpollEvent, struct epoll_event);
    OFFSET(EpollEvent, EVENTS, struct epoll_event, events);
    OFFSET(EpollEvent, DATA, struct epoll_event, data);
}

static void constants(void)
{
    CONST(AF_UNSPEC);
    CONST(AF_UNIX);
    CONST(AF_INET);
    CONST(AF_INET6);
    CONST(SOCK_STREAM);
    CONST(SOCK_DGRAM);
    CONST(SOCK_NONBLOCK);
    CONST(SOCK_CLOEXEC);
    CONST(MSG_PEEK);
    CONST(MSG_TRUNC);
    CONST(MSG_DONTWAIT);
    CONST(MSG_NOSIGNAL);
    CONST(SHUT_RD);
    CONST(SHUT_WR);
    CONST(SHUT_RDWR);
    CONST(SIOCOUTQ);
    CONST(SOL_SOCKET);
    CONST(SO_REUSEADDR);
    CONST(SO_TYPE);
    CONST(SO_ERROR);
    CONST(SO_BROADCAST);
    CONST(SO_SNDBUF);
    CONST(SO_RCVBUF);
    CONST(SO_KEEPALIVE);
    CONST(SO_LINGER);
    CONST(SO_REUSEPORT);
    CONST(SO_ATTACH_FILTER);
    CONST(SO_DOMAIN);
    CONST(BPF_LD);
    CONST(BPF_W);
    CONST(BPF_LEN);
    CONST(BPF_RET);
    CONST(BPF_A);
    CONST(IPPROTO_TCP);
    CONST(TCP_NODELAY);
    CONST(TCP_KEEPIDLE);
    CONST(TCP_KEEPINTVL);
    CONST(TCP_KEEPCNT);
    CONST(TCP_INFO);
    CONST(TCP_SYN_SENT);
    CONST(TCP_USER_TIMEOUT);
    CONST(IPPROTO_IP);
    CONST(IP_TOS);
    CONST(IP_MULTICAST_IF);
    CONST(IP_MULTICAST_TTL);
    CONST(IP_MULTICAST_LOOP);
    CONST(IP_MULTICAST_ALL);
    CONST(IPPROTO_IPV6);
    CONST(IPV6_MULTICAST_IF);
    CONST(IPV6_MULTICAST_HOPS);
    CONST(IPV6_MULTICAST_LOOP);
    CONST(IPV6_V6ONLY);
    CONST(IPV6_MULTICAST_ALL);
    CONST(IPV6_TCLASS);
    CONST(MCAST_JOIN_GROUP);
    CONST(MCAST_BLOCK_SOURCE);
    CONST(MCAST_LEAVE_GROUP);
    CONST(MCAST_JOIN_SOURCE_GROUP);
    CONST(MCAST_LEAVE_SOURCE_GROUP);
    CONST(EPOLL_CLOEXEC);
    CONST(EPOLL_CTL_ADD);
    CONST(EPOLL_CTL_DEL);
    CONST(EPOLLIN);
    CONST(EPOLLOUT);
    CONST(EPOLLERR);
    CONST(EPOLLHUP);
    CONST(EPOLLRDHUP);
    CONST(EPOLLET);
    CONST(EFD_CLOEXEC);
    CONST(EFD_NONBLOCK);
    CONST(CLOCK_MONOTONIC);
    CONST(TFD_CLOEXEC);
    CONST(TFD_NONBLOCK);
    CONST(O_WRONLY);
    CONST(O_NONBLOCK);
    CONST(O_CLOEXEC);
    CONST(F_SETFL);
    CONST(F_SETPIPE_SZ);
    CONST(SPLICE_F_MOVE);
    CONST(SPLICE_F_NONBLOCK);
    CONST(LC_MESSAGES_MASK);
}

static void errors(void)
{
    ERRNO(EPERM);
    ERRNO(EINTR);
    ERRNO(EIO);
    ERRNO(EBADF);
    ERRNO(EAGAIN);
    ERRNO(ENOMEM);
    ERRNO(EACCES);
    ERRNO(EINVAL);
    ERRNO(ENFILE);
    ERRNO(EMFILE);
    ERRNO(EPIPE);
    ERRNO(ENOSYS);
    ERRNO(ENONET);
    ERRNO(EPROTO);
    ERRNO(EDESTADDRREQ);
    ERRNO(EMSGSIZE);
    ERRNO(ENOPROTOOPT);
    ERRNO(EAFNOSUPPORT);
    ERRNO(EADDRINUSE);
    ERRNO(EADDRNOTAVAIL);
    ERRNO(ENETDOWN);
    ERRNO(ENETUNREACH);
    ERRNO(ENETRESET);
    ERRNO(ECONNABORTED);
    ERRNO(ECONNRESET);
    ERRNO(ENOBUFS);
    ERRNO(EISCONN);
    ERRNO(ENOTCONN);
    ERRNO(ETIMEDOUT);
    ERRNO(ECONNREFUSED);
    ERRNO(EHOSTDOWN);
    ERRNO(EHOSTUNREACH);
    ERRNO(EINPROGRESS);
}

int main(void)
{
    structs();
    constants();
    errors();
    return 0;
}
