// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.nettyucx.socket.SocketLayouts.Linger;
import io.github.nettyucx.socket.SocketLayouts.MsgHdr;
import io.github.nettyucx.socket.SocketLayouts.SockAddrIn;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * A socket of the kernel, TCP or UDP, IPv4 or IPv6. It never blocks, and programs that the process starts do not get
 * it.
 *
 * <p>What may happen often answers with a count, or with the negative error number, of {@link Errno}: {@code -EAGAIN}
 * if there is nothing or no room now, {@code -EBADF} after {@link #close()}. It allocates nothing, and asks again
 * itself where a signal interrupted it. Anything else throws what {@link Errno#exception} makes of it.
 *
 * <p>Only one thread at a time may use it.
 */
public final class KernelSocket implements DatagramPort, StreamEnd, AutoCloseable {
    private static final int CLOSED = -1;
    private static final int FLAGS = SocketConstants.SOCK_NONBLOCK | SocketConstants.SOCK_CLOEXEC;
    private static final int NO_SIGNAL = SocketConstants.MSG_NOSIGNAL;

    /** {@code null} as long as that is not known. */
    private static volatile Boolean ipv6Available;

    private final boolean ipv6;
    private int fd;
    /** Where a connection comes from or goes to: the kernel forgets it when it is reset. */
    private InetSocketAddress peer;
    private InetSocketAddress lastSender;
    private Multicast groups;

    private KernelSocket(int fd, boolean ipv6) {
        this.fd = fd;
        this.ipv6 = ipv6;
    }

    /**
     * Whether there are IPv6 sockets, with both families. {@code -Djava.net.preferIPv4Stack=true} says no.
     *
     * <p>A machine that does not make one, because it has none or lets this process have none, is believed. A want of
     * descriptors or of memory says nothing: whoever makes the socket that he wants is told of it, and the next one who asks
     * may learn more.
     */
    public static boolean isIpv6Available() {
        Boolean known = ipv6Available;
        if (known != null) {
            return known;
        }
        int fd = Boolean.getBoolean("java.net.preferIPv4Stack") ? -Errno.EAFNOSUPPORT
                : SocketFunctions.socket(CallState.current(), SocketConstants.AF_INET6, SocketConstants.SOCK_STREAM | FLAGS);
        if (fd >= 0) {
            new KernelSocket(fd, true).close();
        }
        switch (-fd) {
            case Errno.EMFILE, Errno.ENFILE, Errno.ENOBUFS, Errno.ENOMEM:
                return true;
            default:
                ipv6Available = fd >= 0;
                return fd >= 0;
        }
    }

    /** Whether a socket for this address has to be an IPv6 one; one for a wildcard is, where there are any. */
    public static boolean needsIpv6(InetAddress address) {
        return address.isAnyLocalAddress() ? isIpv6Available() : address instanceof Inet6Address;
    }

    /**
     * Whether a socket is an IPv6 one, which may have IPv4 as well.
     *
     * @param descriptor of somebody else's socket
     */
    public static boolean isIpv6(int descriptor) throws IOException {
        CallState state = CallState.current();
        Errno.check("getsockopt(SO_DOMAIN)", new KernelSocket(descriptor, false)
                .getOption(state, SocketConstants.SOL_SOCKET, SocketConstants.SO_DOMAIN));
        return state.memory.get(JAVA_INT, CallState.STRUCT) == SocketConstants.AF_INET6;
    }

    /** @param ipv6 for both families, and not for IPv4 alone */
    public static KernelSocket stream(boolean ipv6) throws IOException {
        return create(ipv6, SocketConstants.SOCK_STREAM);
    }

    /** @param ipv6 for both families, and not for IPv4 alone */
    public static KernelSocket datagram(boolean ipv6) throws IOException {
        KernelSocket socket = create(ipv6, SocketConstants.SOCK_DGRAM);
        // Otherwise it gets what any process of the machine has joined. Older kernels do not have the second one.
        socket.trySet(SocketConstants.IPPROTO_IP, SocketConstants.IP_MULTICAST_ALL, 0);
        if (ipv6) {
            socket.trySet(SocketConstants.IPPROTO_IPV6, SocketConstants.IPV6_MULTICAST_ALL, 0);
        }
        return socket;
    }

    private static KernelSocket create(boolean ipv6, int type) throws IOException {
        int family = ipv6 ? SocketConstants.AF_INET6 : SocketConstants.AF_INET;
        int fd = Errno.check("socket", SocketFunctions.socket(CallState.current(), family, type | FLAGS));
        KernelSocket socket = new KernelSocket(fd, ipv6);
        if (ipv6) {
            try {
                // Without this the system's configuration decides.
                socket.set(SocketSetting.V6_ONLY, 0);
            } catch (Throwable e) {
                socket.close();
                throw e;
            }
        }
        return socket;
    }

    /** The descriptor, -1 once it is closed. */
    public int fd() {
        return fd;
    }

    public boolean isIpv6() {
        return ipv6;
    }

    public boolean isOpen() {
        return fd != CLOSED;
    }

    /** Binds; a wildcard of either family means all addresses that the socket can have. */
    public void bind(InetSocketAddress local) throws IOException {
        CallState state = CallState.current();
        int length = SocketAddresses.encodeLocal(local, ipv6, state.memory, CallState.ADDRESS);
        Errno.check("bind", SocketFunctions.bind(state, fd, state.address(CallState.ADDRESS), length));
    }

    /** @param backlog how many connections wait at most to be accepted; the system limits it */
    public void listen(int backlog) throws IOException {
        Errno.check("listen", SocketFunctions.listen(CallState.current(), fd, backlog));
    }

    /**
     * Starts to connect; of datagrams, says where they go to and come from.
     *
     * @return whether it is connected already; if not, the socket becomes writable when {@link #finishConnect} can tell
     */
    public boolean connect(InetSocketAddress remote) throws IOException {
        CallState state = CallState.current();
        int length = SocketAddresses.encode(remote, ipv6, state.memory, CallState.ADDRESS);
        int result = SocketFunctions.connect(state, fd, state.address(CallState.ADDRESS), length);
        // The kernel goes on connecting when a signal has come.
        if (result == -Errno.EINPROGRESS || result == -Errno.EINTR) {
            return false;
        }
        Errno.check("connect", result);
        return true;
    }

    /**
     * Throws what the attempt to connect has failed with. To be called when the socket has become writable.
     *
     * @return whether it is connected; if not, the kernel has not finished, and tells again
     */
    public boolean finishConnect() throws IOException {
        Errno.check("connect", -pendingError());
        CallState state = CallState.current();
        prepareAddress(state);
        int result = SocketFunctions.getpeername(
                state, fd, state.address(CallState.ADDRESS), state.address(CallState.LENGTH));
        if (result == -Errno.ENOTCONN && isConnecting(state)) {
            return false;
        }
        Errno.check("getpeername", result);
        peer = SocketAddresses.decode(state.memory, CallState.ADDRESS);
        return true;
    }

    private boolean isConnecting(CallState state) throws IOException {
        Errno.check("getsockopt(TCP_INFO)", getInfo(state));
        return state.memory.get(JAVA_BYTE, CallState.STRUCT + SocketLayouts.TcpInfo.STATE) == SocketConstants.TCP_SYN_SENT;
    }

    /** Of datagrams: undoes {@link #connect}. The local address is what it was before, with its port. */
    public void disconnect() throws IOException {
        CallState state = CallState.current();
        int port = localAddress().getPort();
        state.memory.asSlice(CallState.ADDRESS, SockAddrIn.SIZE).fill((byte) 0);
        state.memory.set(JAVA_SHORT, CallState.ADDRESS, (short) SocketConstants.AF_UNSPEC);
        Errno.check("connect", SocketFunctions.connect(state, fd, state.address(CallState.ADDRESS), SockAddrIn.SIZE));
        InetSocketAddress local = localAddress();
        if (local.getPort() != port) {
            // A port that the kernel has chosen it takes back.
            bind(new InetSocketAddress(local.getAddress(), port));
        }
    }

    private KernelSocket accepted(CallState state, int connection) {
        try {
            KernelSocket accepted = new KernelSocket(connection, ipv6);
            accepted.peer = SocketAddresses.decode(state.memory, CallState.ADDRESS);
            return accepted;
        } catch (Throwable e) {
            // For want of memory: nobody else knows of it.
            SocketFunctions.close(state, connection);
            throw e;
        }
    }

    /**
     * Takes the next connection. Those that were lost while they waited are passed over.
     *
     * @return {@code null} if there is none now
     */
    public KernelSocket accept() throws IOException {
        CallState state = CallState.current();
        while (true) {
            prepareAddress(state);
            int result = SocketFunctions.accept4(
                    state, fd, state.address(CallState.ADDRESS), state.address(CallState.LENGTH), FLAGS);
            if (result >= 0) {
                return accepted(state, result);
            }
            switch (-result) {
                case Errno.EAGAIN:
                    return null;
                // Linux tells here what the network has done to the connection: see accept(2).
                case Errno.EINTR, Errno.ECONNABORTED, Errno.EPROTO, Errno.ENETDOWN, Errno.ENOPROTOOPT, Errno.EHOSTDOWN,
                        Errno.ENONET, Errno.EHOSTUNREACH, Errno.ENETUNREACH:
                    break;
                default:
                    throw Errno.exception("accept", -result);
            }
        }
    }

    /** Of a socket that is not bound, a wildcard with port 0. */
    public InetSocketAddress localAddress() throws IOException {
        CallState state = CallState.current();
        prepareAddress(state);
        Errno.check("getsockname", SocketFunctions.getsockname(
                state, fd, state.address(CallState.ADDRESS), state.address(CallState.LENGTH)));
        return SocketAddresses.decode(state.memory, CallState.ADDRESS);
    }

    /** Throws if it is not connected, or not any more; an accepted one knows it until it is closed. */
    public InetSocketAddress remoteAddress() throws IOException {
        if (peer != null && isOpen()) {
            return peer;
        }
        CallState state = CallState.current();
        prepareAddress(state);
        Errno.check("getpeername", SocketFunctions.getpeername(
                state, fd, state.address(CallState.ADDRESS), state.address(CallState.LENGTH)));
        return SocketAddresses.decode(state.memory, CallState.ADDRESS);
    }

    /**
     * Takes bytes.
     *
     * @param length how many at most; of 0 the answer is 0 as well
     * @return how many, 0 at the end of the stream, or the negative error number
     */
    public int receive(long address, int length) {
        return receive(address, length, 0);
    }

    /** As {@link #receive(long, int)}, and leaves the bytes there. */
    public int peek(long address, int length) {
        return receive(address, length, SocketConstants.MSG_PEEK);
    }

    @Override
    public int peek() {
        return peek(CallState.current().address(CallState.STRUCT), 1);
    }

    /** As {@link #receive(long, int)}, and throws the bytes of the stream away, which takes no memory (tcp(7), MSG_TRUNC). */
    public int discard(int length) {
        return receive(0, length, SocketConstants.MSG_TRUNC);
    }

    private int receive(long address, int length, int flags) {
        CallState state = CallState.current();
        long n;
        do {
            n = SocketFunctions.recv(state, fd, address, length, flags);
        } while (n == -Errno.EINTR);
        return (int) n;
    }

    /**
     * Sends bytes.
     *
     * @return how many were taken, or the negative error number
     */
    public int send(long address, int length) {
        CallState state = CallState.current();
        long n;
        do {
            n = SocketFunctions.send(state, fd, address, length, NO_SIGNAL);
        } while (n == -Errno.EINTR);
        return (int) n;
    }

    /**
     * Sends the first {@code count} pieces, in their order.
     *
     * @return how many bytes were taken, or the negative error number
     */
    public long sendVector(IoVector vector, int count) {
        CallState state = CallState.current();
        if (count > vector.capacity()) {
            throw new IndexOutOfBoundsException(count);
        }
        state.memory.set(JAVA_LONG, CallState.STRUCT + MsgHdr.NAME, 0);
        state.memory.set(JAVA_INT, CallState.STRUCT + MsgHdr.NAMELEN, 0);
        state.memory.set(JAVA_LONG, CallState.STRUCT + MsgHdr.IOV, vector.address());
        state.memory.set(JAVA_LONG, CallState.STRUCT + MsgHdr.IOVLEN, count);
        state.memory.set(JAVA_LONG, CallState.STRUCT + MsgHdr.CONTROL, 0);
        state.memory.set(JAVA_LONG, CallState.STRUCT + MsgHdr.CONTROLLEN, 0);
        state.memory.set(JAVA_INT, CallState.STRUCT + MsgHdr.FLAGS, 0);
        long n;
        do {
            n = SocketFunctions.sendmsg(state, fd, state.address(CallState.STRUCT), NO_SIGNAL);
        } while (n == -Errno.EINTR);
        return n;
    }

    /**
     * Sends what is in a pipe.
     *
     * @param length how many bytes at most
     * @return how many were taken, or the negative error number: {@code -EAGAIN} if the pipe is empty, or there is no
     *         room
     */
    public int spliceFrom(Pipe pipe, int length) {
        CallState state = CallState.current();
        long n;
        do {
            n = SocketFunctions.splice(state, pipe.readFd(), fd, length,
                    SocketConstants.SPLICE_F_MOVE | SocketConstants.SPLICE_F_NONBLOCK);
        } while (n == -Errno.EINTR);
        return (int) n;
    }

    /** What has gone wrong since it was asked last: a positive error number, or 0. */
    public int pendingError() {
        CallState state = CallState.current();
        int result = getOption(state, SocketConstants.SOL_SOCKET, SocketConstants.SO_ERROR);
        return result < 0 ? -result : state.memory.get(JAVA_INT, CallState.STRUCT);
    }

    /** How many bytes were sent that the peer has not acknowledged, or the negative error number. */
    public int unsent() {
        CallState state = CallState.current();
        int result = SocketFunctions.ioctl(state, fd, SocketConstants.SIOCOUTQ, state.address(CallState.STRUCT));
        return result < 0 ? result : state.memory.get(JAVA_INT, CallState.STRUCT);
    }

    /**
     * How long the peer's host has been silent although it was asked: since its last sign of life, while something that
     * was sent to it, or a question whether it takes more by now, has been repeated without an answer.
     *
     * @return in milliseconds; -1 if nothing has been repeated
     */
    public int unansweredMillis() {
        CallState state = CallState.current();
        if (getInfo(state) < 0) {
            return -1;
        }
        if (state.memory.get(JAVA_BYTE, CallState.STRUCT + SocketLayouts.TcpInfo.RETRANSMITS) == 0
                && state.memory.get(JAVA_BYTE, CallState.STRUCT + SocketLayouts.TcpInfo.PROBES) == 0) {
            return -1;
        }
        return silentMillis(state.memory.get(JAVA_INT, CallState.STRUCT + SocketLayouts.TcpInfo.LAST_DATA_RECV),
                state.memory.get(JAVA_INT, CallState.STRUCT + SocketLayouts.TcpInfo.LAST_ACK_RECV));
    }

    /** Each of the two has no sign in the kernel: a peer may send nothing for weeks, and acknowledge what it is sent. */
    static int silentMillis(int lastData, int lastAcknowledgement) {
        return (int) Math.min(Integer.MAX_VALUE,
                Math.min(Integer.toUnsignedLong(lastData), Integer.toUnsignedLong(lastAcknowledgement)));
    }

    /**
     * Ends the input: what is there can be read, what comes still comes, see {@code shutdown(2)}; the output: the peer
     * gets the end of the stream after what was sent; or both.
     */
    public void shutdown(boolean input, boolean output) throws IOException {
        if (input || output) {
            int how = !output ? SocketConstants.SHUT_RD
                    : input ? SocketConstants.SHUT_RDWR : SocketConstants.SHUT_WR;
            Errno.check("shutdown", SocketFunctions.shutdown(CallState.current(), fd, how));
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        shutdown(false, true);
    }

    /** Sets an option. Where IPv4 and IPv6 have one each, a socket with both families gets both. */
    public void set(SocketSetting setting, int value) throws IOException {
        int level = ipv6 ? setting.levelOfIpv6 : setting.level;
        int name = ipv6 ? setting.nameOfIpv6 : setting.name;
        Errno.check("setsockopt(" + setting + ")", setOption(level, name, value));
        if (ipv6 && setting.isPerFamily()) {
            trySet(setting.level, setting.name, value);
        }
    }

    /** The option as the kernel has it, which need not be what was set. */
    public int get(SocketSetting setting) throws IOException {
        CallState state = CallState.current();
        Errno.check("getsockopt(" + setting + ")", getOption(state, ipv6 ? setting.levelOfIpv6 : setting.level,
                ipv6 ? setting.nameOfIpv6 : setting.name));
        return state.memory.get(JAVA_INT, CallState.STRUCT);
    }

    @Override
    public void resetOnClose() throws IOException {
        CallState state = CallState.current();
        state.memory.set(JAVA_INT, CallState.STRUCT + Linger.ONOFF, 1);
        state.memory.set(JAVA_INT, CallState.STRUCT + Linger.LINGER, 0);
        Errno.check("setsockopt(SO_LINGER)", SocketFunctions.setsockopt(state, fd, SocketConstants.SOL_SOCKET,
                SocketConstants.SO_LINGER, state.address(CallState.STRUCT), Linger.SIZE));
    }

    /** Once, or more than once. The kernel goes on sending what it has taken. */
    @Override
    public void close() {
        if (isOpen()) {
            int closing = fd;
            fd = CLOSED;
            SocketFunctions.close(CallState.current(), closing);
        }
    }

    @Override
    public int sendTo(long address, int length, InetSocketAddress remote) {
        if (remote == null) {
            return send(address, length);
        }
        CallState state = CallState.current();
        long n = encode(state, remote);
        if (n < 0) {
            return (int) n;
        }
        long to = n;
        do {
            n = SocketFunctions.sendto(state, fd, address, length, NO_SIGNAL, to, AddressCache.length(ipv6));
        } while (n == -Errno.EINTR);
        return (int) n;
    }

    private long encode(CallState state, InetSocketAddress remote) {
        try {
            return state.addresses().encode(remote, ipv6);
        } catch (UnknownHostException e) {
            return -Errno.EDESTADDRREQ;
        } catch (SocketException e) {
            return -Errno.EAFNOSUPPORT;
        }
    }

    @Override
    public int receiveFrom(long address, int length) {
        CallState state = CallState.current();
        long n;
        do {
            prepareAddress(state);
            n = SocketFunctions.recvfrom(state, fd, address, length, 0, state.address(CallState.ADDRESS),
                    state.address(CallState.LENGTH));
        } while (n == -Errno.EINTR);
        if (n >= 0) {
            lastSender = state.addresses().decode(state.memory, CallState.ADDRESS);
        }
        return (int) n;
    }

    @Override
    public InetSocketAddress lastSender() {
        return lastSender;
    }

    /** The groups that a UDP socket is in, and how it sends to groups. */
    public Multicast groups() {
        if (groups == null) {
            groups = new Multicast(this);
        }
        return groups;
    }

    private int setOption(int level, int name, int value) {
        CallState state = CallState.current();
        state.memory.set(JAVA_INT, CallState.STRUCT, value);
        return SocketFunctions.setsockopt(state, fd, level, name, state.address(CallState.STRUCT), Integer.BYTES);
    }

    private void trySet(int level, int name, int value) {
        setOption(level, name, value);
    }

    /** The value is then the first int of the struct. */
    int getOption(CallState state, int level, int name) {
        // Some are one byte only.
        state.memory.set(JAVA_INT, CallState.STRUCT, 0);
        state.memory.set(JAVA_INT, CallState.LENGTH, Integer.BYTES);
        return SocketFunctions.getsockopt(
                state, fd, level, name, state.address(CallState.STRUCT), state.address(CallState.LENGTH));
    }

    private int getInfo(CallState state) {
        state.memory.set(JAVA_INT, CallState.LENGTH, SocketLayouts.TcpInfo.SIZE);
        return SocketFunctions.getsockopt(state, fd, SocketConstants.IPPROTO_TCP, SocketConstants.TCP_INFO,
                state.address(CallState.STRUCT), state.address(CallState.LENGTH));
    }

    /** Zeros, as {@link AddressCache} compares more bytes than an IPv4 address has. */
    private static void prepareAddress(CallState state) {
        for (int i = 0; i < AddressCache.ENTRY; i += Long.BYTES) {
            state.memory.set(JAVA_LONG, CallState.ADDRESS + i, 0);
        }
        state.memory.set(JAVA_INT, CallState.LENGTH, SocketLayouts.SockAddrStorage.SIZE);
    }
}
