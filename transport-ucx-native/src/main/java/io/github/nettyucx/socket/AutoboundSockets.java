// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.nettyucx.socket.SocketLayouts.SockAddrUn;
import io.github.nettyucx.socket.SocketLayouts.SockFilter;
import io.github.nettyucx.socket.SocketLayouts.SockFprog;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The Unix datagram sockets in an epoll set whose names the kernel has chosen (unix(7), Autobind): a zero byte and five
 * hexadecimal digits. The names stand in {@code /proc/net/unix}, and have no permissions: whoever is in the same network
 * namespace can send to such a socket.
 *
 * <p>Any thread may call.
 */
public final class AutoboundSockets {
    /** What a line of {@code /proc/self/fdinfo/<number>} begins with that tells of a descriptor in an epoll set (proc(5)). */
    private static final String WATCHED = "tfd:";
    private static final int DIGITS = 5;

    private static final int PROGRAM = CallState.STRUCT;
    private static final int INSTRUCTIONS = PROGRAM + SockFprog.SIZE;
    /** Of each the first byte: the kernel drops the rest. */
    private static final int DATAGRAM = CallState.STRUCT;
    /** More than wait at a socket (net.unix.max_dgram_qlen), for the case that somebody sends as fast as this takes. */
    private static final int MANY = 10_000;

    private AutoboundSockets() {
    }

    /**
     * Has those of an epoll set get no empty datagrams any more, and throws away what they have got until now.
     *
     * @param epollFd the set's descriptor
     * @return how many they are
     * @throws IOException if they cannot be told, because there is no {@code /proc}, say; or if the kernel refuses that for one of
     *                     them, and then it is done for the others
     */
    public static int refuseEmptyDatagrams(int epollFd) throws IOException {
        CallState state = CallState.current();
        int found = 0;
        int problem = 0;
        for (String line : watched(epollFd)) {
            if (line.startsWith(WATCHED)) {
                String number = line.substring(WATCHED.length()).stripLeading();
                int fd = Integer.parseInt(number, 0, number.indexOf(' '), 10);
                if (isAutobound(state, fd)) {
                    found++;
                    problem = Math.min(problem, refuseEmpty(state, fd));
                    discard(state, fd);
                }
            }
        }
        Errno.check("setsockopt(SO_ATTACH_FILTER)", problem);
        return found;
    }

    /** Not by {@code java.nio.file}, of which a process would load a part to start. */
    private static String[] watched(int epollFd) throws IOException {
        try (FileInputStream in = new FileInputStream("/proc/self/fdinfo/" + epollFd)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\n");
        }
    }

    private static boolean isAutobound(CallState state, int fd) {
        if (option(state, fd, SocketConstants.SO_DOMAIN) != SocketConstants.AF_UNIX
                || option(state, fd, SocketConstants.SO_TYPE) != SocketConstants.SOCK_DGRAM) {
            return false;
        }
        state.memory.set(JAVA_INT, CallState.LENGTH, SockAddrUn.SIZE);
        int result = SocketFunctions.getsockname(
                state, fd, state.address(CallState.ADDRESS), state.address(CallState.LENGTH));
        boolean autobound = result >= 0 && state.memory.get(JAVA_INT, CallState.LENGTH) == SockAddrUn.PATH + 1 + DIGITS
                && state.memory.get(JAVA_BYTE, CallState.ADDRESS + SockAddrUn.PATH) == 0;
        for (int i = 1; i <= DIGITS && autobound; i++) {
            autobound = "0123456789abcdef".indexOf(state.memory.get(JAVA_BYTE, CallState.ADDRESS + SockAddrUn.PATH + i)) >= 0;
        }
        return autobound;
    }

    /** @return negative if the descriptor is not open, or no socket */
    private static int option(CallState state, int fd, int name) {
        state.memory.set(JAVA_INT, CallState.LENGTH, Integer.BYTES);
        int result = SocketFunctions.getsockopt(state, fd, SocketConstants.SOL_SOCKET, name,
                state.address(CallState.STRUCT), state.address(CallState.LENGTH));
        return result < 0 ? result : state.memory.get(JAVA_INT, CallState.STRUCT);
    }

    /**
     * The program loads the length of the datagram, and answers it: so many bytes of it are kept, and of 0 bytes nothing. The
     * sender is not told.
     *
     * @return negative if the kernel refuses
     */
    private static int refuseEmpty(CallState state, int fd) {
        write(state, 0, SocketConstants.BPF_LD | SocketConstants.BPF_W | SocketConstants.BPF_LEN);
        write(state, 1, SocketConstants.BPF_RET | SocketConstants.BPF_A);
        state.memory.set(JAVA_SHORT, PROGRAM + SockFprog.LEN, (short) 2);
        state.memory.set(JAVA_LONG, PROGRAM + SockFprog.FILTER, state.address(INSTRUCTIONS));
        return SocketFunctions.setsockopt(state, fd, SocketConstants.SOL_SOCKET, SocketConstants.SO_ATTACH_FILTER,
                state.address(PROGRAM), SockFprog.SIZE);
    }

    private static void write(CallState state, int index, int code) {
        // No jumps, and no operand.
        state.memory.set(JAVA_LONG, INSTRUCTIONS + index * SockFilter.SIZE, 0);
        state.memory.set(JAVA_SHORT, INSTRUCTIONS + index * SockFilter.SIZE + SockFilter.CODE, (short) code);
    }

    private static void discard(CallState state, int fd) {
        long taken = 0;
        for (int i = 0; i < MANY && (taken >= 0 || taken == -Errno.EINTR); i++) {
            taken = SocketFunctions.recv(state, fd, state.address(DATAGRAM), 1, SocketConstants.MSG_DONTWAIT);
        }
    }
}
