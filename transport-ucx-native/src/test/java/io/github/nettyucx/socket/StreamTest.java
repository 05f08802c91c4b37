// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What goes over a connection, and how it ends. */
@Timeout(60)
class StreamTest {

    @Test
    void thereIsNothingToReceiveUntilSomethingCame() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            MemorySegment memory = pair.memory(16);
            assertEquals(-Errno.EAGAIN, pair.server.receive(memory.address(), 16));
            assertEquals(-Errno.EAGAIN, pair.server.peek(memory.address(), 16));
        }
    }

    @Test
    void peekingLeavesTheBytesThere() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.send(pair.client, "abcdef");
            SocketPair.await(pair.server, Epoll.IN);
            MemorySegment memory = pair.memory(16);
            assertEquals(3, pair.server.peek(memory.address(), 3));
            assertEquals("abc", SocketPair.text(memory, 3));
            assertEquals("abcdef", pair.receive(pair.server, 6));
        }
    }

    @Test
    void whatIsThrownAwayIsGone() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            assertEquals(-Errno.EAGAIN, pair.server.discard(16));
            pair.send(pair.client, "abcdef");
            SocketPair.await(pair.server, Epoll.IN);
            assertEquals(4, pair.server.discard(4));
            assertEquals("ef", pair.receive(pair.server, 2));
            pair.client.close();
            SocketPair.await(pair.server, Epoll.RDHUP);
            assertEquals(0, pair.server.discard(16));
        }
    }

    @Test
    void theOutputCanEndBeforeTheInput() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.send(pair.client, "last words");
            pair.client.shutdown(false, true);
            long memory = pair.memory(1).address();
            assertEquals(-Errno.EPIPE, pair.client.send(memory, 1));
            assertEquals("last words", pair.receive(pair.server, 10));
            SocketPair.await(pair.server, Epoll.RDHUP);
            assertEquals(0, pair.server.receive(memory, 1));
            assertEquals(0, pair.server.peek(memory, 1));
            pair.send(pair.server, "an answer");
            assertEquals("an answer", pair.receive(pair.client, 9));
            pair.server.close();
            SocketPair.await(pair.client, Epoll.RDHUP);
            assertEquals(0, pair.client.receive(memory, 1));
        }
    }

    @Test
    void theInputCanEndBeforeTheOutput() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.client.shutdown(true, false);
            assertEquals(0, pair.client.receive(pair.memory(1).address(), 1));
            pair.send(pair.client, "still");
            assertEquals("still", pair.receive(pair.server, 5));
        }
    }

    @Test
    void aResetIsAnErrorOfTheOtherSide() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            long memory = pair.memory(1).address();
            pair.client.resetOnClose();
            pair.client.close();
            // There is room to write all the time: that alone would be an answer if the reset came later than the question.
            SocketPair.await(pair.server, Epoll.RDHUP);
            int events = SocketPair.await(pair.server, Epoll.IN | Epoll.OUT | Epoll.RDHUP);
            int all = Epoll.IN | Epoll.OUT | Epoll.RDHUP | Epoll.ERR | Epoll.HUP;
            assertEquals(all, events);
            assertEquals(Errno.ECONNRESET, pair.server.pendingError());
            assertEquals(0, pair.server.pendingError(), "it is told once");
            assertEquals(-Errno.EPIPE, pair.server.send(memory, 1));
        }
    }

    @Test
    void bytesThatNobodyReadMakeACloseAReset() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.send(pair.client, "unread");
            SocketPair.await(pair.server, Epoll.IN);
            pair.server.close();
            SocketPair.await(pair.client, Epoll.RDHUP);
            assertEquals(-Errno.ECONNRESET, pair.client.receive(pair.memory(1).address(), 1));
        }
    }

    /** Sends until there is no room, has the other side read, and goes on when the edge says so, several times. */
    @Test
    void aFullSocketSaysWhenThereIsRoomAgain() throws Exception {
        try (SocketPair pair = SocketPair.open(); Epoll epoll = new Epoll()) {
            pair.client.set(SocketSetting.SEND_BUFFER, 16 << 10);
            pair.server.set(SocketSetting.RECEIVE_BUFFER, 16 << 10);
            int size = 4 << 20;
            MemorySegment sent = pair.memory(size);
            Random random = new Random(1);
            for (long i = 0; i < size; i += Long.BYTES) {
                sent.set(JAVA_LONG, i, random.nextLong());
            }
            MemorySegment received = pair.memory(size);
            epoll.add(pair.client.fd(), Epoll.OUT | Epoll.EDGE, 1);
            epoll.add(pair.server.fd(), Epoll.IN | Epoll.EDGE, 2);
            int out = 0;
            int in = 0;
            int partial = 0;
            int full = 0;
            while (in < size) {
                assertNotEquals(0, epoll.await(SocketPair.PATIENCE), "no event at " + out + ", " + in);
                int n = 1;
                while (out < size && n > 0) {
                    n = pair.client.send(sent.address() + out, size - out);
                    if (n > 0) {
                        partial += n < size - out ? 1 : 0;
                        out += n;
                    } else {
                        assertEquals(-Errno.EAGAIN, n);
                        full++;
                    }
                }
                n = 1;
                while (in < size && n > 0) {
                    n = pair.server.receive(received.address() + in, size - in);
                    assertTrue(n > 0 || n == -Errno.EAGAIN, "receive answers " + n);
                    in += Math.max(0, n);
                }
            }
            assertEquals(-1, sent.mismatch(received));
            assertTrue(partial > 1 && full > 1, "it was never full: " + partial + ", " + full);
        }
    }

    @Test
    void piecesAreSentInTheirOrder() throws Exception {
        try (SocketPair pair = SocketPair.open(); IoVector vector = new IoVector(4)) {
            vector.set(0, pair.memory("The ").address(), 4);
            vector.set(1, pair.memory("").address(), 0);
            vector.set(2, pair.memory("order matters").address(), 6);
            vector.set(3, pair.memory("!").address(), 1);
            assertEquals(10, pair.client.sendVector(vector, 3));
            assertEquals(11, pair.client.sendVector(vector, 4));
            assertEquals("The order The order !", pair.receive(pair.server, 21));
        }
    }

    @Test
    void asManyPiecesAsTheKernelTakes() throws Exception {
        try (SocketPair pair = SocketPair.open(); IoVector vector = new IoVector(IoVector.MAX_CAPACITY)) {
            MemorySegment memory = pair.memory(IoVector.MAX_CAPACITY);
            for (int i = 0; i < IoVector.MAX_CAPACITY; i++) {
                memory.set(JAVA_BYTE, i, (byte) ('a' + i % 26));
                vector.set(i, memory.address() + i, 1);
            }
            assertEquals(IoVector.MAX_CAPACITY, pair.client.sendVector(vector, IoVector.MAX_CAPACITY));
            assertEquals(SocketPair.text(memory, IoVector.MAX_CAPACITY),
                    pair.receive(pair.server, IoVector.MAX_CAPACITY));
        }
    }

    @Test
    void aVectorGivesNoMoreThanItHas() throws Exception {
        assertThrows(IllegalArgumentException.class, () -> new IoVector(0));
        assertThrows(IllegalArgumentException.class, () -> new IoVector(IoVector.MAX_CAPACITY + 1));
        try (SocketPair pair = SocketPair.open(); IoVector vector = new IoVector(2)) {
            assertEquals(2, vector.capacity());
            assertThrows(IndexOutOfBoundsException.class, () -> pair.client.sendVector(vector, 3));
            assertThrows(IndexOutOfBoundsException.class, () -> vector.set(2, 0, 0));
        }
        IoVector closed = new IoVector(1);
        closed.close();
        closed.close();
        assertThrows(IllegalStateException.class, () -> closed.set(0, 0, 0));
    }

    @Test
    void whatThePeerHasNotGotYetIsKnown() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            MemorySegment memory = pair.memory(1 << 20);
            long sent = 0;
            int n;
            while ((n = pair.client.send(memory.address(), 1 << 20)) > 0) {
                sent += n;
            }
            assertEquals(-Errno.EAGAIN, n);
            assertTrue(pair.client.unsent() > 0, "the peer cannot have everything");
            for (long received = 0; received < sent;) {
                SocketPair.await(pair.server, Epoll.IN);
                received += pair.server.receive(memory.address(), 1 << 20);
            }
            long start = System.nanoTime();
            while (pair.client.unsent() > 0) {
                assertTrue(System.nanoTime() - start < SocketPair.PATIENCE, "not acknowledged");
                Thread.onSpinWait();
            }
            assertEquals(0, pair.client.unsent());
        }
    }

    @Test
    void theKernelSendsWhatItHasTakenAfterTheClose() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.send(pair.client, "posthumous");
            pair.client.close();
            assertEquals("posthumous", pair.receive(pair.server, 10));
            assertEquals(0, pair.server.receive(pair.memory(1).address(), 1));
        }
    }
}
