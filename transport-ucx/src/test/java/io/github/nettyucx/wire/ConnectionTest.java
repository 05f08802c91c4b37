// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Test;

import java.util.List;

import static io.github.nettyucx.wire.ScriptedPort.INLINE;
import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ConnectionTest extends ConnectionFixture {

    // ------------------------------------------------------------------------------------------- bytes

    @Test
    void tellsThatBytesHaveArrived() {
        open();
        port.deliver(Tag.DATA, 0, text("hello"));
        assertEquals(List.of("input"), told);
        assertEquals("hello", read(10));
    }

    @Test
    void tellsThatSendsHaveCompleted() {
        open();
        port.answer(PENDING);
        send(10);
        assertTrue(port.isTracked());
        port.poll();
        assertEquals(List.of(), told);
        port.completeAll();
        port.poll();
        assertEquals(List.of("output"), told);
        assertEquals(10, connection.outbound().completed());
        port.poll();
        assertFalse(port.isTracked());
    }

    @Test
    void asksOncePerTurnForTheOldestSendAndReceive() {
        open();
        port.answer(PENDING, PENDING, PENDING);
        for (int i = 0; i < 3; i++) {
            send(10);
        }
        assertEquals(1, port.poll());
        port.deliver(Tag.DATA, 0, text("hello"));
        port.answer(PENDING);
        assertNull(read(10));
        assertEquals(2, port.poll());

        port.complete(port.sent.getFirst().request(), UcsStatus.OK);
        int before = port.statusCalls();
        port.poll();
        assertEquals(10, connection.outbound().completed());
        assertEquals(0, connection.outbound().completed());
        assertEquals(0, connection.outbound().completed());
        assertEquals(3, port.statusCalls() - before, "the one that is done, and the oldest that are not");
    }

    @Test
    void tellsOfCompletedSendsUntilTheyAreTaken() {
        open();
        port.answer(PENDING);
        send(10);
        port.completeAll();
        port.poll();
        port.poll();
        assertEquals(List.of("output", "output"), told);
        assertTrue(port.isTracked());
        assertEquals(10, connection.outbound().completed());
        assertEquals(0, port.poll());
        assertFalse(port.isTracked());
    }

    @Test
    void tellsThatTheReceiveOfTheNextBytesHasCompleted() {
        open();
        port.deliver(Tag.DATA, 0, text("hello"));
        port.answer(PENDING);
        assertNull(read(10));
        told.clear();
        port.poll();
        assertEquals(List.of(), told);
        port.completeAll();
        port.poll();
        assertEquals(List.of("input"), told);
        assertEquals("hello", read(10));
    }

    @Test
    void tellsThatCreditHasCome() {
        open();
        send(100);
        port.deliver(Tag.CREDIT, 164);
        assertEquals(List.of("output"), told);
        port.deliver(Tag.CREDIT, 0);
        assertTrue(connection.isOpen(), "no credit is no violation");
    }

    @Test
    void takesCreditThatComesWithData() {
        open();
        for (int i = 0; i < 3; i++) {
            send(MAX_MESSAGE);
        }
        send(1000);
        int before = connection.outbound().room();
        port.deliver(Tag.DATA, Tag.GRANT_UNIT, text("x"));
        assertEquals(before + Tag.GRANT_UNIT, connection.outbound().room());
        assertEquals(List.of("output", "input"), told);
    }

    // ------------------------------------------------------------------------------------------- credit

    /** The peer uses a quarter of the window, and the application reads it. */
    private void consumeQuarter() {
        port.deliver(Tag.DATA, 0, new byte[WINDOW / 4 - 64]);
        read(WINDOW);
    }

    @Test
    void grantsAQuarterOfTheWindowOnItsOwn() {
        open();
        port.deliver(Tag.DATA, 0, new byte[WINDOW / 4 - 65]);
        read(WINDOW);
        assertEquals(0, port.sent.size());
        port.deliver(Tag.DATA, 0, new byte[1]);
        read(WINDOW);
        assertEquals(Tag.of(PEER, Tag.CREDIT, WINDOW / 4 + 64), port.sent.getLast().tag());
    }

    @Test
    void sendsOneGrantAtATimeAndTheNextAfterIt() {
        open();
        port.answer(INLINE, PENDING);
        consumeQuarter();
        consumeQuarter();
        assertEquals(1, port.sent.size());
        port.completeAll();
        port.poll();
        assertEquals(2, port.sent.size(), "nobody reads or writes, but the peer waits");
        assertEquals(Tag.of(PEER, Tag.CREDIT, WINDOW / 4), port.sent.getLast().tag());
    }

    @Test
    void grantsForWhatItThrowsAway() {
        open();
        connection.discardInput();
        for (int i = 0; i < 12; i++) {
            port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE - 64]);
        }
        assertTrue(connection.isOpen());
        assertEquals(12, port.sent.size());
    }

    @Test
    void grantsForWhatWasQueuedWhenReadingStopped() {
        open();
        port.deliver(Tag.DATA, 0, new byte[WINDOW / 4 - 64]);
        connection.discardInput();
        assertEquals(Tag.of(PEER, Tag.CREDIT, WINDOW / 4), port.sent.getLast().tag());
    }

    // ------------------------------------------------------------------------------------------- the end

    @Test
    void acknowledgesAnEndWhenAllBytesLieInMemory() {
        open();
        port.deliver(Tag.DATA, 0, text("hello"));
        port.answer(PENDING);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        assertEquals(0, port.sent.size());
        assertTrue(connection.inbound().peerReads());

        port.completeAll();
        port.poll();
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
        assertEquals("hello", read(10));
        assertEquals(1, port.sent.size(), "acknowledged once");
    }

    @Test
    void acknowledgesAnEndWhenTheLastOfManyReceivesHasCompleted() {
        open();
        port.deliver(Tag.DATA, 0, text("one"));
        port.deliver(Tag.DATA, 0, text("two"));
        port.answer(PENDING, PENDING);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        port.complete(port.receive(0), UcsStatus.OK);
        port.poll();
        assertEquals(0, port.sent.size());
        port.complete(port.receive(1), UcsStatus.OK);
        port.poll();
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
    }

    @Test
    void acknowledgesAnEndThatItReadsUpTo() {
        open();
        port.deliver(Tag.DATA, 0, text("hello"));
        noMemory = true;
        port.deliver(Tag.FIN, Tag.FIN_CLOSE);
        assertEquals(0, port.sent.size());
        noMemory = false;
        assertFalse(connection.inbound().peerReads());
        assertEquals("hello", read(10));
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
    }

    @Test
    void acknowledgesAnEndThatNobodyReads() {
        open();
        connection.discardInput();
        port.deliver(Tag.FIN, Tag.FIN_CLOSE);
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
    }

    @Test
    void tellsThatItsEndIsAcknowledged() {
        open();
        connection.outbound().finish(false);
        connection.settle();
        assertTrue(connection.outbound().isFinishing());
        port.deliver(Tag.FIN_ACK, 0);
        assertEquals(List.of("acknowledged"), told);
        assertFalse(connection.outbound().isFinishing());
    }

    @Test
    void readsOnAfterItsOwnEnd() {
        open();
        connection.outbound().finish(false);
        connection.settle();
        port.deliver(Tag.FIN_ACK, 0);
        port.deliver(Tag.DATA, 0, text("hello"));
        assertEquals("hello", read(10));
        consumeQuarter();
        assertEquals(Tag.CREDIT, port.sent.getLast().type());
    }

    @Test
    void writesOnAfterThePeersEnd() {
        open();
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        send(10);
        assertEquals(Tag.DATA, port.sent.getLast().type());
    }

    // ------------------------------------------------------------------------------------------- close

    @Test
    void tellsNothingAfterTheClose() {
        open();
        port.answer(PENDING);
        send(10);
        port.deliver(Tag.DATA, 0, text("held"));
        connection.close();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        port.completeAll();
        told.clear();
        port.poll();
        assertEquals(List.of(), told);
    }

    @Test
    void canBeClosedTwiceAndAfterALoss() {
        open();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        connection.close();
        connection.close();
    }
}
