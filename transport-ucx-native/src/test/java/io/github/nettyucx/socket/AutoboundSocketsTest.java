// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.socket.SocketLayouts.EpollEvent;
import io.github.nettyucx.socket.SocketLayouts.SockAddrUn;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AutoboundSocketsTest {

    /** An autobound name, "\0" and five digits, in a {@code struct sockaddr_un}. */
    private static final int NAME_LENGTH = SockAddrUn.PATH + 6;

    private final List<Integer> sockets = new ArrayList<>();
    private final CallState state = CallState.current();

    @AfterEach
    void closeSockets() {
        sockets.forEach(fd -> SocketFunctions.close(state, fd));
    }

    private int unnamed() throws IOException {
        int fd = Errno.check("socket", AbstractName.socket(state));
        sockets.add(fd);
        return fd;
    }

    /** As UCX does it: an address that ends before the name. */
    private int autobound() throws IOException {
        int fd = unnamed();
        state.memory.set(JAVA_SHORT, CallState.ADDRESS, (short) SocketConstants.AF_UNIX);
        Errno.check("bind", SocketFunctions.bind(state, fd, state.address(CallState.ADDRESS), SockAddrUn.PATH));
        return fd;
    }

    /** In an epoll set, which has an eventfd as well. */
    private int refuseEmptyDatagrams(int... fds) throws IOException {
        CallState calls = CallState.current();
        int epoll = Errno.check("epoll_create1", SocketFunctions.epollCreate(calls, SocketConstants.EPOLL_CLOEXEC));
        int event = Errno.check("eventfd", SocketFunctions.eventfd(calls, SocketConstants.EFD_NONBLOCK));
        try {
            add(calls, epoll, event);
            for (int fd : fds) {
                add(calls, epoll, fd);
            }
            return AutoboundSockets.refuseEmptyDatagrams(epoll);
        } finally {
            SocketFunctions.close(calls, event);
            SocketFunctions.close(calls, epoll);
        }
    }

    private static void add(CallState calls, int epoll, int fd) throws IOException {
        calls.memory.set(ValueLayout.JAVA_INT_UNALIGNED, CallState.STRUCT + EpollEvent.EVENTS, Epoll.IN);
        Errno.check("epoll_ctl", SocketFunctions.epollControl(
                calls, epoll, SocketConstants.EPOLL_CTL_ADD, fd, calls.address(CallState.STRUCT)));
    }

    private void send(int to, int... lengths) throws IOException {
        int from = unnamed();
        state.memory.set(JAVA_INT, CallState.LENGTH, SockAddrUn.SIZE);
        Errno.check("getsockname", SocketFunctions.getsockname(
                state, to, state.address(CallState.ADDRESS), state.address(CallState.LENGTH)));
        assertEquals(NAME_LENGTH, state.memory.get(JAVA_INT, CallState.LENGTH));
        for (int length : lengths) {
            assertEquals(length, SocketFunctions.sendto(state, from, state.address(CallState.STRUCT), length, 0,
                    state.address(CallState.ADDRESS), NAME_LENGTH));
        }
    }

    /** @return the lengths of the datagrams that wait */
    private List<Long> received(int fd) {
        List<Long> lengths = new ArrayList<>();
        long length = receive(fd);
        while (length >= 0) {
            lengths.add(length);
            length = receive(fd);
        }
        assertEquals(-Errno.EAGAIN, length);
        return lengths;
    }

    private long receive(int fd) {
        return SocketFunctions.recv(
                state, fd, state.address(CallState.STRUCT), CallState.STRUCT_SIZE, SocketConstants.MSG_DONTWAIT);
    }

    @Test
    void theyGetNoEmptyDatagramsAndAllOthers() throws IOException {
        int first = autobound();
        int second = autobound();
        assertEquals(2, refuseEmptyDatagrams(first, second));
        for (int fd : new int[] {first, second}) {
            send(fd, 0, 1, 0, 0, 300, 0);
            assertEquals(List.of(1L, 300L), received(fd));
        }
    }

    @Test
    void whatTheyHaveGotBeforeIsThrownAway() throws IOException {
        int fd = autobound();
        send(fd, 0, 5, 0);
        assertEquals(1, refuseEmptyDatagrams(fd));
        assertEquals(List.of(), received(fd));
        send(fd, 5);
        assertEquals(List.of(5L), received(fd));
    }

    /** It is another library's, or the application's. */
    @Test
    void whatIsNotInTheSetIsLeftAlone() throws IOException {
        int other = autobound();
        send(other, 0, 5);
        assertEquals(0, refuseEmptyDatagrams());
        send(other, 0);
        assertEquals(List.of(0L, 5L, 0L), received(other));
    }

    @Test
    void whatIsNoEpollSetHasNone() throws IOException {
        assertEquals(0, AutoboundSockets.refuseEmptyDatagrams(autobound()));
        int closed = sockets.removeLast();
        SocketFunctions.close(state, closed);
        assertThrows(IOException.class, () -> AutoboundSockets.refuseEmptyDatagrams(closed));
    }

    @Test
    void whatHasAnotherNameOrNoneOrIsNoSuchSocketIsNotMeant() throws Exception {
        int listed = unnamed();
        state.memory.set(JAVA_SHORT, CallState.ADDRESS, (short) SocketConstants.AF_UNIX);
        byte[] six = "\000012abc".getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(six, 0, state.memory, JAVA_BYTE, CallState.ADDRESS + SockAddrUn.PATH, six.length);
        Errno.check("bind", SocketFunctions.bind(
                state, listed, state.address(CallState.ADDRESS), SockAddrUn.PATH + six.length));
        try (KernelSocket stream = KernelSocket.stream(false);
             KernelSocket datagram = KernelSocket.datagram(false)) {
            assertEquals(0, refuseEmptyDatagrams(unnamed(), listed, stream.fd(), datagram.fd()));
        }
    }

    @Test
    void whereTheKernelRefusesThatIsTold() throws Exception {
        int fd = autobound();
        send(fd, 0);
        String message = Seccomp.refusing(Errno.EPERM,
                () -> assertThrows(IOException.class, () -> refuseEmptyDatagrams(fd)).getMessage(), Seccomp.SETSOCKOPT);
        assertTrue(message.contains("SO_ATTACH_FILTER"), message);
        assertEquals(List.of(), received(fd), "what had come has been thrown away all the same");
    }
}
