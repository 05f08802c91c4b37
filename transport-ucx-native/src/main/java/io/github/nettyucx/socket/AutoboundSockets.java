// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.nettyucx.socket.SocketLayouts.SockAddrUn;
import io.github.nettyucx.socket.SocketLayouts.SockFilter;
import io.github.nettyucx.socket.SocketLayouts.SockFprog;
import java.io.File;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The Unix datagram sockets of this process whose names the kernel has chosen (unix(7), Autobind): a zero byte and five
 * hexadecimal digits. The names stand in {@code /proc/net/unix}, and have no permissions: whoever is in the same network
 * namespace can send to such a socket.
 *
 * <p>Sockets are told apart by their names: the number of a descriptor that was closed, such as the one by which they are
 * listed, is used again.
 *
 * <p>Any thread may call.
 */
public final class AutoboundSockets {
    /** Not by {@code java.nio.file}, of which a process would load a part to start. */
    private static final File DESCRIPTORS = new File("/proc/self/fd");
    private static final int DIGITS = 5;
    private static final int NONE = -1;

    private static final int PROGRAM = CallState.STRUCT;
    private static final int INSTRUCTIONS = PROGRAM + SockFprog.SIZE;
    /** Of each the first byte: the kernel drops the rest. */
    private static final int DATAGRAM = CallState.STRUCT;
    /** More than wait at a socket (net.unix.max_dgram_qlen), for the case that somebody sends as fast as this takes. */
    private static final int MANY = 10_000;

    private final Set<Integer> names = new HashSet<>();

    private AutoboundSockets() {
    }

    /**
     * Those that there are now.
     *
     * @throws IOException if that cannot be told: there is no {@code /proc}, say
     */
    public static AutoboundSockets present() throws IOException {
        AutoboundSockets present = new AutoboundSockets();
        CallState state = CallState.current();
        for (String descriptor : descriptors()) {
            int name = name(state, Integer.parseInt(descriptor));
            if (name != NONE) {
                present.names.add(name);
            }
        }
        return present;
    }

    /**
     * Has those that have come since then get no empty datagrams any more, and throws away what they have got until now.
     *
     * @return how many they are
     * @throws IOException if the kernel refuses that for one of them; it is done for the others
     */
    public int refuseEmptyDatagramsToNewer() throws IOException {
        CallState state = CallState.current();
        int newer = 0;
        int problem = 0;
        for (String descriptor : descriptors()) {
            int fd = Integer.parseInt(descriptor);
            int name = name(state, fd);
            if (name != NONE && !names.contains(name)) {
                newer++;
                problem = Math.min(problem, refuseEmptyDatagrams(state, fd));
                discard(state, fd);
            }
        }
        Errno.check("setsockopt(SO_ATTACH_FILTER)", problem);
        return newer;
    }

    private static String[] descriptors() throws IOException {
        String[] numbers = DESCRIPTORS.list();
        if (numbers == null) {
            throw new IOException(DESCRIPTORS + " cannot be listed");
        }
        return numbers;
    }

    /** @return its digits; {@link #NONE} if it is no such socket */
    private static int name(CallState state, int fd) {
        if (option(state, fd, SocketConstants.SO_DOMAIN) != SocketConstants.AF_UNIX
                || option(state, fd, SocketConstants.SO_TYPE) != SocketConstants.SOCK_DGRAM) {
            return NONE;
        }
        state.memory.set(JAVA_INT, CallState.LENGTH, SockAddrUn.SIZE);
        int result = SocketFunctions.getsockname(
                state, fd, state.address(CallState.ADDRESS), state.address(CallState.LENGTH));
        if (result < 0 || state.memory.get(JAVA_INT, CallState.LENGTH) != SockAddrUn.PATH + 1 + DIGITS
                || state.memory.get(JAVA_BYTE, CallState.ADDRESS + SockAddrUn.PATH) != 0) {
            return NONE;
        }
        int name = 0;
        for (int i = 1; i <= DIGITS; i++) {
            int character = state.memory.get(JAVA_BYTE, CallState.ADDRESS + SockAddrUn.PATH + i);
            int digit = "0123456789abcdef".indexOf(character);
            if (digit < 0) {
                return NONE;
            }
            name = name << 4 | digit;
        }
        return name;
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
    private static int refuseEmptyDatagrams(CallState state, int fd) {
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
