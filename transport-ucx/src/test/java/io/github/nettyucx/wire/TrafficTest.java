// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

/** What a connection counts, and the reasons that it gives for its failure and its end. */
class TrafficTest extends ConnectionFixture {

    private void assertCount(long expected, TrafficCounter counter) {
        assertEquals(expected, traffic.get(counter), counter::toString);
    }

    // ------------------------------------------------------------------------------------------- counts

    @Test
    void countsWhatIsSentBySizeAndWhetherUcxWasDoneAtOnce() {
        open();
        send(64);
        port.answer(PENDING);
        send(65);
        port.answer(PENDING);
        send(4096);
        assertEquals(1, traffic.sent().get(SizeClass.UP_TO_64));
        assertEquals(1, traffic.sent().get(SizeClass.UP_TO_512));
        assertEquals(1, traffic.sent().get(SizeClass.UP_TO_4K));
        assertEquals(3, traffic.sent().sum());
        assertCount(64 + 65 + 4096, TrafficCounter.BYTES_SENT);
        assertCount(2, TrafficCounter.SENDS_DEFERRED);
        assertEquals(0, traffic.received().sum());
    }

    @Test
    void doesNotCountWhatUcxHasRefused() {
        open();
        port.answer(UcsStatus.ERR_CONNECTION_RESET);
        send(100);
        assertEquals(0, traffic.sent().sum());
        assertCount(0, TrafficCounter.BYTES_SENT);
    }

    @Test
    void countsWhatArrivesAndWhetherItsBytesHadToBeWaitedFor() {
        open();
        port.deliver(Tag.DATA, 0, text("at once"));
        assertEquals("at once", read(100));
        port.deliver(Tag.DATA, 0, text("later"));
        port.answer(PENDING);
        assertNull(read(100));
        assertEquals(2, traffic.received().get(SizeClass.UP_TO_64));
        assertCount("at once".length() + "later".length(), TrafficCounter.BYTES_RECEIVED);
        assertCount(1, TrafficCounter.RECEIVES_DEFERRED);
    }

    @Test
    void countsOneWaitForCreditUntilThePeerGrantsMore() {
        open();
        for (int i = 0; i < 3; i++) {
            send(MAX_MESSAGE);
        }
        connection.outbound().held();
        connection.outbound().held();
        assertCount(1, TrafficCounter.CREDIT_WAITS);
        port.deliver(Tag.CREDIT, MAX_MESSAGE + Limits.MESSAGE_CHARGE);
        assertCount(1, TrafficCounter.CREDIT_MESSAGES_RECEIVED);
        connection.outbound().held();
        assertCount(2, TrafficCounter.CREDIT_WAITS);
    }

    @Test
    void doesNotTakeAFullQueueOfSendsForWantOfCredit() {
        open();
        while (connection.outbound().room() > 0) {
            port.answer(PENDING);
            send(1);
        }
        connection.outbound().held();
        assertCount(0, TrafficCounter.CREDIT_WAITS);
    }

    @Test
    void countsGrantsThatGoAlone() {
        open();
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        read(MAX_MESSAGE);
        assertCount(1, TrafficCounter.CREDIT_MESSAGES_SENT);
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE - Limits.MESSAGE_CHARGE - 1]);
        read(MAX_MESSAGE);
        send(1);
        assertCount(1, TrafficCounter.CREDIT_MESSAGES_SENT);
    }

    @Test
    void isPartOfItsLaneAlsoWithWhatCameBeforeThatWasKnown() {
        open();
        send(10);
        Traffic lane = Traffic.ofConnection();
        traffic.opened(lane);
        send(20);
        traffic.gathered(3);
        port.deliver(Tag.DATA, 0, text("abc"));
        traffic.closed();
        for (TrafficCounter counter : TrafficCounter.values()) {
            assertEquals(traffic.get(counter), lane.get(counter), counter::toString);
        }
        assertEquals(30, lane.get(TrafficCounter.BYTES_SENT));
        assertEquals(3, lane.get(TrafficCounter.BYTES_RECEIVED));
        assertEquals(3, lane.get(TrafficCounter.BUFFERS_GATHERED));
        assertEquals(1, lane.get(TrafficCounter.CONNECTIONS_OPENED));
        assertEquals(1, lane.get(TrafficCounter.CONNECTIONS_CLOSED));
        assertEquals(2, lane.sent().sum());
        assertEquals(1, lane.received().sum());
    }

    // ------------------------------------------------------------------------------------------- ends

    @ParameterizedTest
    @CsvSource({"-25, RESET_BY_PEER", "-80, RESET_BY_PEER", "-3, LOST"})
    void namesWhatUcxReports(int status, CloseReason expected) {
        open();
        connection.endpointFailed(status);
        assertEquals(expected, connection.closeReason());
    }

    @Test
    void namesAViolation() {
        open();
        port.deliver(15, 0);
        assertEquals(CloseReason.PROTOCOL_VIOLATION, connection.closeReason());
    }

    @Test
    void endsInGoodOrderWhenItsEndIsAcknowledged() {
        open();
        assertEquals(CloseReason.ABORTED, connection.closeReason());
        connection.outbound().finish(true);
        assertEquals(CloseReason.ABORTED, connection.closeReason());
        port.deliver(Tag.FIN_ACK, 0);
        assertEquals(CloseReason.ORDERLY, connection.closeReason());
    }

    @Test
    void endsInGoodOrderWhenThePeerReadsNoMore() {
        open();
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        assertEquals(CloseReason.ABORTED, connection.closeReason());
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertEquals(CloseReason.ORDERLY, connection.closeReason());
    }

    @Test
    void endsInGoodOrderWhenThePeerGoesBecauseOfOurEnd() {
        open();
        connection.outbound().finish(true);
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertEquals(CloseReason.ORDERLY, connection.closeReason());
    }
}
