// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The connected TCP sockets of this process, whoever has opened them. Any thread may use an instance, one at a time.
 * <p>
 * When there are no descriptors left it is needed most. So it keeps those that it works with, and takes no other.
 */
final class SocketTable implements AutoCloseable {

    /** Is told of a socket. */
    @FunctionalInterface
    interface Visitor {

        /**
         * @param descriptor may have been closed, and be another socket's, a moment later
         */
        void visit(int descriptor, InetSocketAddress local, InetSocketAddress remote);
    }

    /**
     * When to probe, as the kernel counts: in seconds.
     *
     * @param idle     after that time without anything from the peer for the first time
     * @param interval from one probe to the next
     * @param count    as many without an answer end the connection
     */
    record Probing(int idle, int interval, int count) {

        /** How long the peer may be silent in all. */
        int limit() {
            return idle + interval * count;
        }
    }

    private static final int NONE = -1;
    private static final String STATUS = "/proc/self/status";
    /** Far more than there is before the size of the table. */
    private static final int STATUS_SIZE = 2048;
    private static final String TABLE_SIZE = "FDSize:";
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    /** {@code O_CLOEXEC} and {@code SOCK_CLOEXEC}. */
    private static final int CLOEXEC = 0x80000;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int ADDRESS_SIZE = 128;
    private static final int MEMORY_SIZE = 256;
    private static final long PORT_OFFSET = 2;
    private static final long IPV4_OFFSET = 4;
    private static final long IPV6_OFFSET = 8;
    private static final int F_GETFD = 1;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final short AF_UNSPEC = 0;
    private static final long FIONREAD = 0x541b;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_KEEPIDLE = 4;
    private static final int TCP_KEEPINTVL = 5;
    private static final int TCP_KEEPCNT = 6;
    private static final int TCP_INFO = 11;
    private static final int TCP_USER_TIMEOUT = 18;
    private static final int SOL_SOCKET = 1;
    private static final int SO_KEEPALIVE = 9;
    /** {@code struct tcp_info}, of which Linux 4.1 and later fill {@code tcpi_bytes_received}. */
    private static final int TCP_INFO_SIZE = 136;
    private static final long BYTES_RECEIVED = 128;
    private static final ValueLayout.OfShort NETWORK_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final MethodHandle GETSOCKNAME =
            bind("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle GETPEERNAME =
            bind("getpeername", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CONNECT =
            bind("connect", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle IOCTL = bind("ioctl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle GETSOCKOPT = bind("getsockopt",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle SETSOCKOPT = bind("setsockopt",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle SOCKET =
            bind("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle DUP3 =
            bind("dup3", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle FCNTL =
            bind("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));

    /** {@code null} if nothing is to be probed. */
    private final Probing probing;
    private final MemorySegment address = Arena.ofAuto().allocate(MEMORY_SIZE, Long.BYTES);
    private final MemorySegment length = Arena.ofAuto().allocate(JAVA_INT);
    private final byte[] text = new byte[STATUS_SIZE];
    /** {@code null} if it is not open; nor are the other two, or not all. */
    private RandomAccessFile status;
    /** A socket that is not used for anything. */
    private int idle = NONE;
    /** A duplicate of that one, unless it is one of a socket with which something is done. */
    private int spare = NONE;

    SocketTable(Probing probing) {
        this.probing = probing;
    }

    private static MethodHandle bind(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, options);
    }

    /** Takes the descriptors now that are needed later. If there are none, {@link #forEach} tries again. */
    void prepare() {
        try {
            open();
        } catch (IOException e) {
            // Said by whoever needs them.
        }
    }

    private void open() throws IOException {
        if (status == null) {
            status = new RandomAccessFile(STATUS, "r");
        }
        if (idle == NONE) {
            idle = check("socket", call(SOCKET, AF_UNIX, SOCK_STREAM | CLOEXEC, 0));
        }
        if (spare == NONE) {
            spare = check("fcntl", call(FCNTL, idle, F_DUPFD_CLOEXEC, 0));
        }
    }

    private static int check(String function, int result) throws IOException {
        if (result < 0) {
            throw new IOException(function + " gives no descriptor");
        }
        return result;
    }

    /** Gives back what it keeps. It may be used again. */
    @Override
    public void close() {
        if (status != null) {
            try {
                status.close();
            } catch (IOException e) {
                // Nothing has been written.
            }
            status = null;
        }
        if (spare != NONE) {
            close(spare);
            spare = NONE;
        }
        if (idle != NONE) {
            close(idle);
            idle = NONE;
        }
    }

    /**
     * Goes through all descriptors of the process. Asks for each number that there can be, because that costs a tenth
     * of reading the directory {@code /proc/self/fd}.
     *
     * @return how many descriptors there are
     */
    int forEach(Visitor visitor) throws IOException {
        open();
        int count = 0;
        int size = tableSize();
        for (int descriptor = 0; descriptor < size; descriptor++) {
            InetSocketAddress local = name(GETSOCKNAME, descriptor);
            if (local != null || call(FCNTL, descriptor, F_GETFD, 0) >= 0) {
                count++;
            }
            InetSocketAddress remote = local == null ? null : name(GETPEERNAME, descriptor);
            if (remote != null) {
                visitor.visit(descriptor, local, remote);
            }
        }
        return count;
    }

    /** All descriptors are below it. */
    private int tableSize() throws IOException {
        status.seek(0);
        int length = status.read(text);
        String read = new String(text, 0, Math.max(0, length), StandardCharsets.ISO_8859_1);
        int start = read.indexOf(TABLE_SIZE) + TABLE_SIZE.length();
        int end = read.indexOf('\n', start);
        if (start < TABLE_SIZE.length() || end < 0) {
            throw new IOException(STATUS + " says nothing of " + TABLE_SIZE);
        }
        return Integer.parseInt(read.substring(start, end).strip());
    }

    /** How many bytes have come that the owner has not read. */
    int unread(int descriptor) {
        length.set(JAVA_INT, 0, 0);
        try {
            return (int) IOCTL.invokeExact(descriptor, FIONREAD, length.address()) == 0 ? length.get(JAVA_INT, 0) : 0;
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        }
    }

    /** How many bytes have come in all, read or not; 0 if the kernel does not tell. */
    long received(int descriptor) {
        length.set(JAVA_INT, 0, TCP_INFO_SIZE);
        try {
            int result = (int) GETSOCKOPT.invokeExact(
                    descriptor, IPPROTO_TCP, TCP_INFO, address.address(), length.address());
            return result == 0 && length.get(JAVA_INT, 0) == TCP_INFO_SIZE ? address.get(JAVA_LONG, BYTES_RECEIVED) : 0;
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        }
    }

    /**
     * Whoever owns the socket finds that the peer has reset the connection, and so does the peer.
     * <p>
     * A mere shutdown would not do: when more than a message has come UCX asks for 0 bytes more, again and again, and
     * takes their arrival for a success.
     *
     * @return whether it has been reset, and was not closed before
     */
    boolean reset(int descriptor, InetSocketAddress local, InetSocketAddress remote) {
        try {
            if (!borrow(descriptor, local, remote)) {
                return false;
            }
            address.set(ValueLayout.JAVA_SHORT, 0, AF_UNSPEC);
            return (int) CONNECT.invokeExact(spare, address.address(), ADDRESS_SIZE) == 0;
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        } finally {
            giveBack();
        }
    }

    /** The kernel is to ask the peer's from time to time whether it is there. */
    void probe(int descriptor, InetSocketAddress local, InetSocketAddress remote) {
        try {
            if (borrow(descriptor, local, remote)) {
                set(spare, IPPROTO_TCP, TCP_KEEPIDLE, probing.idle());
                set(spare, IPPROTO_TCP, TCP_KEEPINTVL, probing.interval());
                set(spare, IPPROTO_TCP, TCP_KEEPCNT, probing.count());
                set(spare, SOL_SOCKET, SO_KEEPALIVE, 1);
                // While something is on its way, as the last bytes of a connect may be when the network goes, nothing
                // is probed.
                set(spare, IPPROTO_TCP, TCP_USER_TIMEOUT, (int) TimeUnit.SECONDS.toMillis(probing.limit()));
            }
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        } finally {
            giveBack();
        }
    }

    /**
     * Makes the spare descriptor one of this socket, which stays its owner's. The owner may close it at any time, and
     * the number become another socket's; so the duplicate is checked, which nobody else can close.
     */
    private boolean borrow(int descriptor, InetSocketAddress local, InetSocketAddress remote) {
        return call(DUP3, descriptor, spare, CLOEXEC) >= 0
                && local.equals(name(GETSOCKNAME, spare)) && remote.equals(name(GETPEERNAME, spare));
    }

    /** The peer would not learn that the owner has closed the socket while there is a duplicate. */
    private void giveBack() {
        if (call(DUP3, idle, spare, CLOEXEC) < 0) {
            // Somebody has closed what is not theirs.
            close();
        }
    }

    /** A connection that has been reset meanwhile takes no options; then nobody needs them. */
    private void set(int descriptor, int level, int option, int value) throws Throwable {
        address.set(JAVA_INT, 0, value);
        int ignored = (int) SETSOCKOPT.invokeExact(descriptor, level, option, address.address(), Integer.BYTES);
    }

    private static int call(MethodHandle handle, int first, int second, int third) {
        try {
            return (int) handle.invokeExact(first, second, third);
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        }
    }

    private static void close(int descriptor) {
        try {
            int ignored = (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        }
    }

    /** @return {@code null} if it is no socket of IP, or not connected, as the question may be */
    private InetSocketAddress name(MethodHandle question, int descriptor) {
        length.set(JAVA_INT, 0, ADDRESS_SIZE);
        try {
            if ((int) question.invokeExact(descriptor, address.address(), length.address()) != 0) {
                return null;
            }
            byte[] bytes = switch (address.get(ValueLayout.JAVA_SHORT, 0)) {
                case AF_INET -> address.asSlice(IPV4_OFFSET, 4).toArray(ValueLayout.JAVA_BYTE);
                case AF_INET6 -> address.asSlice(IPV6_OFFSET, 16).toArray(ValueLayout.JAVA_BYTE);
                default -> null;
            };
            return bytes == null ? null : new InetSocketAddress(InetAddress.getByAddress(bytes),
                    Short.toUnsignedInt(address.get(NETWORK_SHORT, PORT_OFFSET)));
        } catch (Throwable t) {
            throw EventPoller.rethrow(t);
        }
    }
}
