// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** In which order the owner carries out what a peer asks for, when UCX takes its time for some of it. Without a network. */
class MemoryOrderTest extends MemoryFixture {

    private static final int COUNT = 1000;
    private static final byte FIRST = 5;
    private static final byte SECOND = 6;
    private static final long FIRST_WORD = 0x0505_0505_0505_0505L;

    /** What a peer asks for between two puts to the same bytes. */
    private enum Between {
        GET(MemoryFrame.GET), ADD(MemoryFrame.ADD), SWAP(MemoryFrame.SWAP), NOTIFICATION(MemoryFrame.PUT),
        /** The first put has it. */
        OWN_NOTIFICATION(0);

        private final int kind;

        Between(int kind) {
            this.kind = kind;
        }
    }

    private static byte[] filled(int value) {
        byte[] bytes = new byte[COUNT];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private void put(int number, int value, boolean notifying) {
        put(number, value, notifying, port.deferring);
    }

    /** @param deferring whether UCX takes its time for the bytes */
    private void put(int number, int value, boolean notifying, boolean deferring) {
        port.deliver(Tag.MEMORY_REQUEST, number, notifying(request(MemoryFrame.PUT, 0, COUNT, 0, 0, 0), notifying));
        boolean before = port.deferring;
        port.deferring = deferring;
        port.deliver(Tag.MEMORY_PUT, number, filled(value));
        port.deferring = before;
    }

    /** A put whose bytes UCX has not received. */
    private void beginPut(int number, int value, boolean notifying) {
        put(number, value, notifying, true);
    }

    private static byte[] notifying(byte[] request, boolean notifying) {
        request[1] = (byte) (notifying ? MemoryFrame.NOTIFYING : 0);
        return request;
    }

    private void ask(int number, Between between) {
        switch (between) {
            case NOTIFICATION -> port.deliver(Tag.MEMORY_REQUEST, number,
                    notifying(request(MemoryFrame.PUT, 0, 0, 0, 0, 0), true));
            case OWN_NOTIFICATION -> { }
            default -> port.deliver(Tag.MEMORY_REQUEST, number, request(between.kind, 0, 8, 1, 1, 0));
        }
    }

    private byte[] content() {
        return Arrays.copyOf(memory.segment().toArray(ValueLayout.JAVA_BYTE), COUNT);
    }

    private void completeAndTurn() {
        port.completeAll();
        port.turn();
    }

    private List<Integer> answered() {
        return port.sent.stream().map(FakePort.Sent::value).toList();
    }

    private int reason(int number) {
        byte[] answer = port.sent.stream().filter(sent -> sent.value() == number).findFirst().orElseThrow().bytes();
        return answer.length == 0 ? 0 : answer[0];
    }

    // ------------------------------------------------------------------------------------------- the order

    @ParameterizedTest
    @EnumSource(Between.class)
    void twoPutsWithSomethingBetweenThemAreInOrder(Between between) {
        start();
        openAsPeer();
        beginPut(1, FIRST, between == Between.OWN_NOTIFICATION);
        ask(2, between);
        put(3, SECOND, false);
        assertArrayEquals(new byte[COUNT], content());
        assertEquals(List.of(), port.sent);
        completeAndTurn();
        assertInOrder(between);
    }

    /** The requests come in pieces as well. */
    @ParameterizedTest
    @EnumSource(Between.class)
    void soTheyAreIfTheRequestsTakeTheirTime(Between between) {
        start();
        openAsPeer();
        port.deferring = true;
        put(1, FIRST, between == Between.OWN_NOTIFICATION);
        ask(2, between);
        put(3, SECOND, false);
        // The requests, the first bytes, the second ones.
        for (int i = 0; i < 3; i++) {
            completeAndTurn();
        }
        assertInOrder(between);
    }

    private void assertInOrder(Between between) {
        assertNull(failure);
        assertArrayEquals(filled(SECOND), content());
        assertEquals(between == Between.OWN_NOTIFICATION ? List.of(1, 3) : List.of(1, 2, 3), answered());
        switch (between) {
            case GET -> assertEquals(FIRST_WORD, ByteBuffer.wrap(port.sent.get(1).bytes()).getLong());
            case ADD, SWAP -> assertEquals(FIRST_WORD, ByteBuffer.wrap(port.sent.get(1).bytes()).getLong(8));
            default -> {
                exchange.deliver(notifications::add);
                assertEquals(1, notifications.size());
            }
        }
    }

    @Test
    void bytesOfPutsWithNothingBetweenThemArriveAtTheSameTime() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        beginPut(2, FIRST, false);
        beginPut(3, FIRST, true);
        assertEquals(0, port.unreceived());
        completeAndTurn();
        assertEquals(List.of(1, 2, 3), answered());
    }

    @Test
    void soDoThoseThatHaveWaitedUpToTheNextThatIsNoPut() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        put(3, SECOND, false);
        put(4, SECOND, true);
        put(5, FIRST, false);
        assertEquals(3, port.unreceived());
        port.completeAll();
        port.deferring = true;
        port.turn();
        assertEquals(1, port.unreceived());
        assertEquals(List.of(1, 2), answered());
        completeAndTurn();
        assertEquals(0, port.unreceived());
        assertEquals(List.of(1, 2, 3, 4), answered());
        completeAndTurn();
        assertEquals(List.of(1, 2, 3, 4, 5), answered());
        assertArrayEquals(filled(FIRST), content());
    }

    /** Messages are taken before it is looked what has become of others. */
    @Test
    void whatUcxHasReceivedMeanwhileIsNotWaitedFor() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        port.completeAll();
        put(3, SECOND, false);
        assertEquals(List.of(1, 2, 3), answered());
        assertArrayEquals(filled(SECOND), content());
    }

    // ------------------------------------------------------------------------------------------- what is kept

    @Test
    void aPutThatHasToWaitIsRefusedIfTheMemoryIsRevokedMeanwhile() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        put(3, SECOND, false);
        memory.revoke();
        port.sent.clear();
        completeAndTurn();
        assertEquals(List.of(1, 2, 3), answered());
        assertEquals(0, reason(1), "it was under way");
        assertEquals(Reason.REVOKED.code(), reason(2));
        assertEquals(Reason.REVOKED.code(), reason(3));
        assertTrue(memory.memory().gone().isDone());
    }

    @Test
    void aPutThatHasToWaitIsThrownAwayWhenTheConnectionEnds() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        put(3, SECOND, false);
        assertEquals(1, port.unreceived());
        connection.peerGone(new IOException("gone"));
        assertEquals(0, port.unreceived());
        assertArrayEquals(new byte[COUNT], content());
    }

    @Test
    void itsBytesComeOnce() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        put(3, SECOND, false);
        port.deliver(Tag.MEMORY_PUT, 3, filled(SECOND));
        assertInstanceOf(ProtocolException.class, failure);
        assertEquals(0, port.unreceived());
    }

    @Test
    void aPeerCannotHaveAnyNumberOfBytesWait() {
        start();
        openAsPeer();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        int most = (int) (MemoryFrame.MAX_KEPT / COUNT);
        for (int i = 0; i < most; i++) {
            put(3 + i, SECOND, false);
        }
        assertEquals(most, port.unreceived());
        int tooMany = 3 + most;
        put(tooMany, FIRST, false);
        assertEquals(most, port.unreceived());
        completeAndTurn();
        assertNull(failure);
        assertEquals(tooMany, port.sent.size());
        assertEquals(Reason.TOO_MANY.code(), reason(tooMany));
        assertArrayEquals(filled(SECOND), content());
        // None of them is counted any more.
        port.sent.clear();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        put(3, SECOND, false);
        completeAndTurn();
        assertEquals(0, reason(3));
    }

    @Test
    void asManyMayWaitAsTheMemoryHas() {
        start();
        UcxMemory large = UcxMemory.allocateChecked(MemoryFrame.MAX_KEPT + COUNT, UcxMemoryRight.values());
        deliverOpen(large.exportKey());
        handle = ByteBuffer.wrap(port.sent.getLast().bytes()).getInt(4);
        port.sent.clear();
        beginPut(1, FIRST, false);
        ask(2, Between.ADD);
        int most = (int) (large.length() / COUNT);
        for (int i = 0; i <= most; i++) {
            put(3 + i, SECOND, false);
        }
        assertEquals(most, port.unreceived());
        completeAndTurn();
        assertEquals(0, reason(2 + most));
        assertEquals(Reason.TOO_MANY.code(), reason(3 + most));
        large.revoke();
    }
}
