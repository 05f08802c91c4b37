// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Many connections over one link: what happens to one is nothing to the others. */
class SharedLinkTest {

    private static final int COUNT = 50;
    private static final int WINDOW = 16 * 1024;
    private static final int MAX_MESSAGE = 4 * 1024;

    private final ScriptedPort port = new ScriptedPort();
    private final List<Sharer> sharers = IntStream.range(0, COUNT).mapToObj(i -> new Sharer(i)).toList();

    private final class Sharer implements ConnectionListener {
        private final int id;
        private final int peerId;
        private final Connection connection;
        private final List<String> told = new ArrayList<>();
        private final StringBuilder expected = new StringBuilder();
        private final StringBuilder received = new StringBuilder();

        Sharer(int number) {
            // Neighbouring ids, and some that are negative.
            id = number - 20 == 0 ? COUNT : number - 20;
            peerId = 1000 + number;
            connection = new Connection(port, id, WINDOW, MAX_MESSAGE, this, port.memory::allocate, Traffic.ofConnection());
        }

        void open() {
            connection.open(peerId, WINDOW, MAX_MESSAGE);
        }

        void arrives(String text) {
            expected.append(text);
            port.deliverTo(id, Tag.DATA, 0, text.getBytes(StandardCharsets.US_ASCII));
        }

        void send(int length) {
            ByteBuf memory = port.memory.allocate(length).writeZero(length);
            if (!connection.outbound().send(TrackedMemory.addressOf(memory), length, memory, length, 0)) {
                memory.release();
            }
            connection.settle();
        }

        void readAll() {
            for (ByteBuf buffer = read(); buffer != null; buffer = read()) {
                received.append(buffer.toString(StandardCharsets.US_ASCII));
                buffer.release();
            }
            connection.settle();
        }

        private ByteBuf read() {
            return connection.read(WINDOW, port.memory::allocate);
        }

        void assertWhole() {
            readAll();
            assertEquals(expected.toString(), received.toString());
        }

        @Override
        public void connectionFailed(IOException cause) {
            told.add("failed: " + cause.getMessage());
        }

        @Override
        public void inputReady() {
            told.add("input");
        }

        @Override
        public void outputReady() {
            told.add("output");
        }

        @Override
        public void outputAcknowledged() {
            told.add("acknowledged");
        }
    }

    @AfterEach
    void everythingIsGivenBack() {
        sharers.forEach(sharer -> sharer.connection.close());
        port.completeAll();
        port.poll();
        assertFalse(port.isRegistered());
        assertFalse(port.isTracked());
        port.assertEverythingReturned();
    }

    private void openAll() {
        sharers.forEach(Sharer::open);
    }

    @Test
    void givesEachOneItsOwnBytesHoweverTheyAreMixed() {
        openAll();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < COUNT; i++) {
                Sharer sharer = sharers.get(i * 7 % COUNT);
                sharer.arrives("<" + sharer.id + "/" + round + ">");
                if ((i + round) % 3 == 0) {
                    sharer.readAll();
                }
            }
        }
        sharers.forEach(Sharer::assertWhole);
    }

    @Test
    void sendsFromEachOneToItsOwnPeer() {
        openAll();
        for (Sharer sharer : sharers) {
            sharer.send(10);
            sharer.connection.outbound().finish(false);
        }
        for (int i = 0; i < COUNT; i++) {
            assertEquals(Tag.of(sharers.get(i).peerId, Tag.DATA, 0), port.sent.get(2 * i).tag());
            assertEquals(Tag.ofFin(sharers.get(i).peerId, 1, false), port.sent.get(2 * i + 1).tag());
        }
    }

    @Test
    void countsTheCreditOfEachOneByItself() {
        openAll();
        Sharer spender = sharers.getFirst();
        while (spender.connection.outbound().room() > 0) {
            spender.send(Math.min(1000, spender.connection.outbound().room()));
        }
        for (Sharer other : sharers.subList(1, COUNT)) {
            assertEquals(MAX_MESSAGE, other.connection.outbound().room());
        }
        Sharer flooded = sharers.getLast();
        for (int i = 0; i <= WINDOW / MAX_MESSAGE; i++) {
            port.deliverTo(flooded.id, Tag.DATA, 0, new byte[MAX_MESSAGE]);
        }
        assertFalse(flooded.connection.isOpen(), "took more than its window");
        assertEquals(COUNT - 1, sharers.stream().filter(sharer -> sharer.connection.isOpen()).count());
    }

    @Test
    void goesOnWhenOneIsClosedWithMessagesUnderWay() {
        openAll();
        Sharer closed = sharers.get(3);
        port.answer(PENDING, PENDING);
        closed.send(100);
        sharers.get(4).send(100);
        closed.arrives("held");
        closed.connection.close();
        closed.told.clear();

        long late = port.deliverTo(closed.id, Tag.DATA, 0, new byte[10]);
        port.deliverTo(closed.id, Tag.FIN, 0);
        assertTrue(port.isDropped(late));
        assertEquals(2, port.unknownCount());
        assertEquals(List.of(), closed.told);

        port.completeAll();
        port.poll();
        assertEquals(100, sharers.get(4).connection.outbound().completed());
        for (Sharer other : sharers) {
            if (other != closed) {
                other.arrives("alive " + other.id);
                other.assertWhole();
                assertTrue(other.connection.isOpen());
            }
        }
    }

    @Test
    void goesOnWhenThePeerOfOneIsGone() {
        openAll();
        Sharer reset = sharers.get(7);
        sharers.forEach(sharer -> sharer.arrives("before"));
        sharers.forEach(sharer -> sharer.told.clear());
        reset.connection.peerGone(new SocketException("Connection reset by peer"));
        assertEquals(List.of("failed: Connection reset by peer"), reset.told);
        for (Sharer sharer : sharers) {
            if (sharer != reset) {
                assertEquals(List.of(), sharer.told);
                sharer.send(1);
                sharer.arrives(", after");
            }
            sharer.assertWhole();
        }
    }

    @Test
    void dropsAndCountsWhatIsForNobody() {
        openAll();
        long message = port.deliverTo(12345, Tag.DATA, 0, new byte[100]);
        port.deliverTo(12345, Tag.FIN_ACK, 0);
        assertTrue(port.isDropped(message));
        assertEquals(2, port.unknownCount());
        sharers.forEach(sharer -> assertEquals(List.of(), sharer.told));
    }

    @Test
    void givesAnIdToTheNextOneWhenTheFirstIsClosed() {
        openAll();
        Sharer first = sharers.get(5);
        first.arrives("of the first");
        first.connection.close();
        Sharer second = new Sharer(5);
        second.open();
        second.arrives("of the second");
        second.assertWhole();
        second.connection.close();
    }

    @Test
    void failsAllWhenTheLinkFailsAndLosesNothingThatHadArrived() {
        openAll();
        sharers.forEach(sharer -> sharer.arrives("last words"));
        Sharer ended = sharers.get(9);
        port.deliverTo(ended.id, Tag.FIN, Tag.FIN_HALF);
        sharers.forEach(sharer -> sharer.told.clear());
        sharers.forEach(sharer -> sharer.connection.endpointFailed(UcsStatus.ERR_ENDPOINT_TIMEOUT));
        for (Sharer sharer : sharers) {
            assertEquals(sharer == ended ? List.of("output", "input") : List.of("failed: Connection reset by peer"),
                    sharer.told);
            sharer.assertWhole();
            assertEquals(sharer == ended, sharer.connection.inbound().isAtEnd());
            assertNull(sharer.connection.read(1, port.memory::allocate));
        }
    }
}
