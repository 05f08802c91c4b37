// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.socket.SocketLayouts.SockAddrUn;
import java.io.IOException;
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
    void whatIsNewerGetsNoEmptyDatagramsAndAllOthers() throws IOException {
        AutoboundSockets before = AutoboundSockets.present();
        int first = autobound();
        int second = autobound();
        assertEquals(2, before.refuseEmptyDatagramsToNewer());
        for (int fd : new int[] {first, second}) {
            send(fd, 0, 1, 0, 0, 300, 0);
            assertEquals(List.of(1L, 300L), received(fd));
        }
    }

    @Test
    void whatItHasGotBeforeIsThrownAway() throws IOException {
        AutoboundSockets before = AutoboundSockets.present();
        int fd = autobound();
        send(fd, 0, 5, 0);
        assertEquals(1, before.refuseEmptyDatagramsToNewer());
        assertEquals(List.of(), received(fd));
        send(fd, 5);
        assertEquals(List.of(5L), received(fd));
    }

    @Test
    void whatWasThereBeforeIsLeftAlone() throws IOException {
        int older = autobound();
        AutoboundSockets before = AutoboundSockets.present();
        send(older, 0, 5);
        assertEquals(0, before.refuseEmptyDatagramsToNewer());
        send(older, 0);
        assertEquals(List.of(0L, 5L, 0L), received(older));
    }

    /** The number is the same. */
    @Test
    void aSocketWithTheDescriptorOfAnotherIsNewer() throws IOException {
        int older = autobound();
        AutoboundSockets before = AutoboundSockets.present();
        SocketFunctions.close(state, sockets.removeLast());
        int newer = autobound();
        assertEquals(older, newer);
        assertEquals(1, before.refuseEmptyDatagramsToNewer());
        send(newer, 0, 5);
        assertEquals(List.of(5L), received(newer));
    }

    @Test
    void whatHasAnotherNameOrNoneOrIsNoSuchSocketIsNotMeant() throws Exception {
        AutoboundSockets before = AutoboundSockets.present();
        unnamed();
        try (PresenceSign sign = PresenceSign.open(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
             AbstractName six = AbstractName.take("012ab");
             KernelSocket stream = KernelSocket.stream(false);
             KernelSocket datagram = KernelSocket.datagram(false);
             Epoll epoll = new Epoll()) {
            assertTrue(stream.isOpen() && datagram.isOpen() && sign != null && six != null && epoll.poll() == 0);
            assertEquals(0, before.refuseEmptyDatagramsToNewer());
        }
    }

    @Test
    void whereTheKernelRefusesThatIsTold() throws Exception {
        AutoboundSockets before = AutoboundSockets.present();
        int fd = autobound();
        send(fd, 0);
        String message = Seccomp.refusing(Errno.EPERM,
                () -> assertThrows(IOException.class, before::refuseEmptyDatagramsToNewer).getMessage(), Seccomp.SETSOCKOPT);
        assertTrue(message.contains("SO_ATTACH_FILTER"), message);
        assertEquals(List.of(), received(fd), "what had come has been thrown away all the same");
    }
}
