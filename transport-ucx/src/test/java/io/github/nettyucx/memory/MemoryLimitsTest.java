// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

/** What a peer can have this side keep, and what happens when there is no memory for it. Without a network. */
class MemoryLimitsTest extends MemoryFixture {

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPeerThatAsksAndTakesNoAnswersIsBounded(boolean polled) {
        start();
        openAsPeer();
        port.deferringSends = true;
        int most = MemoryFrame.MAX_UNTAKEN;
        for (int i = 0; i < most / 256; i++) {
            deliverRequests(256);
            if (polled && i % 64 == 0) {
                port.turn();
            }
        }
        assertNull(failure);
        assertEquals(most, port.sent.size());
        deliverRequests(1);
        assertInstanceOf(ProtocolException.class, failure);
        assertEquals(most, port.sent.size());
    }

    @Test
    void whatAPeerHasTakenDoesNotCountAgainstItBeforeItIsPolled() {
        start();
        openAsPeer();
        port.deferringSends = true;
        for (int i = 0; i < 2; i++) {
            deliverRequests(MemoryFrame.MAX_UNTAKEN);
            port.completeAll();
            // Messages are taken before completions are looked at: so there is no turn in between.
            deliverRequests(MemoryFrame.MAX_OPERATIONS);
            port.completeAll();
            port.turn();
        }
        assertNull(failure);
    }

    @Test
    void whatThisSideAsksForDoesNotCountAgainstThePeer() {
        start();
        openAsPeer();
        UcxRemoteMemory remote = openAsAsker();
        port.deferringSends = true;
        ByteBuf target = Unpooled.directBuffer(8, 8);
        for (int i = 0; i < MemoryFrame.MAX_OPERATIONS; i++) {
            remote.get(0, target, 0, 8, null, 0);
        }
        deliverRequests(MemoryFrame.MAX_UNTAKEN);
        assertNull(failure);
        connection.close();
        exchange.deliver(notifications::add);
        assertEquals(1, target.refCnt());
        target.release();
    }

    @Test
    void aRequestThatThereIsNoMemoryForFailsItsConnection() {
        start();
        noMemory = true;
        deliverOpen(memory.exportKey());
        assertFailedWithoutMemory();
        assertEquals(List.of(), port.sent);
        noMemory = false;
        deliverOpen(memory.exportKey());
        assertEquals(0, port.unreceived(), "what comes afterwards is thrown away");
    }

    @Test
    void soDoesOneThatCameBeforeTheHandshakeWasOver() {
        noMemory = true;
        deliverOpen(memory.exportKey());
        assertFailedWithoutMemory();
        start();
        assertEquals(List.of(), port.sent);
    }

    @Test
    void aRequestThatThereIsNoMoreMemoryForFailsItsConnection() {
        start();
        openAsPeer();
        port.deferringSends = true;
        deliverRequests(64);
        noMemory = true;
        deliver(MemoryFrame.ADD, 0, 8);
        for (int i = 0; i < 64 && failure == null; i++) {
            deliver(MemoryFrame.ADD, 0, 8);
        }
        assertFailedWithoutMemory();
    }

    /** Whatever it was needed for between the arrival of a message and its receive. */
    @Test
    void aMessageThatTheHeapHasNoRoomForFailsItsConnectionAndIsReceived() {
        start();
        openAsPeer();
        port.noMemoryToReceive = true;
        deliver(MemoryFrame.ADD, 0, 8);
        assertFailedWithoutMemory();
    }

    /** And the owner's memory is not kept by the one that did not come. */
    @Test
    void soDoTheBytesOfAPut() {
        start();
        openAsPeer();
        port.deliver(Tag.MEMORY_REQUEST, 1, request(MemoryFrame.PUT, 0, LENGTH, 0, 0, 0));
        port.noMemoryToReceive = true;
        port.deliver(Tag.MEMORY_PUT, 1, new byte[LENGTH]);
        assertFailedWithoutMemory();
    }

    @ParameterizedTest
    @ValueSource(bytes = {MemoryFrame.GET, MemoryFrame.ADD})
    void soDoesOneThatCannotBeAnswered(byte kind) {
        start();
        openAsPeer();
        port.noMemoryToSend = true;
        deliver(kind, 0, 8);
        port.turn();
        assertFailedWithoutMemory();
    }

    @Test
    void soDoesOneThatThereIsNoMemoryToAskFor() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf buffer = Unpooled.directBuffer(LENGTH).writeZero(LENGTH);
        List<Throwable> causes = new ArrayList<>();
        port.noMemoryToSend = true;
        remote.get(0, buffer, 0, 8, (id, value, cause) -> causes.add(cause), 0);
        remote.put(0, buffer.retainedSlice(), (id, value, cause) -> causes.add(cause), 0);
        remote.flush((id, value, cause) -> causes.add(cause), 0);
        port.turn();
        assertFailedWithoutMemory();
        exchange.deliver(notifications::add);
        assertEquals(List.of(failure, failure, failure), causes);
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }

    @Test
    void soDoesAnAnswer() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        List<Throwable> causes = new ArrayList<>();
        remote.fetchAndAdd(0, 1, (id, value, cause) -> causes.add(cause), 0);
        port.noMemoryToReceive = true;
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), new byte[24]);
        assertFailedWithoutMemory();
        exchange.deliver(notifications::add);
        assertEquals(List.of(failure), causes);
    }

    private void assertFailedWithoutMemory() {
        assertEquals("no memory for a message: as the test wants it", failure.getMessage());
        assertInstanceOf(OutOfMemoryError.class, failure.getCause());
        assertEquals(0, port.unreceived());
    }

    @Test
    void whatThereIsNoMemoryToAskForFailsAlone() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        port.deferringSends = true;
        ByteBuf buffer = Unpooled.directBuffer(300).writeZero(300);
        List<Throwable> causes = new ArrayList<>();
        UcxCompletion completion = (id, value, cause) -> causes.add(cause);
        noMemory = true;
        // As many frames as there are.
        for (int i = 0; i < 64; i++) {
            remote.fetchAndAdd(0, 1, null, 0);
        }
        Promise<UcxRemoteMemory> opening = ImmediateEventExecutor.INSTANCE.newPromise();
        exchange.access().open(memory.exportKey(), ImmediateEventExecutor.INSTANCE, opening);
        remote.put(0, buffer.retainedSlice(), completion, 0);
        remote.put(0, buffer.retainedSlice(0, 10), completion, 0);
        remote.get(0, buffer, 0, 300, completion, 0);
        remote.fetchAndAdd(0, 1, completion, 0);
        remote.compareAndSwap(0, 1, 1, completion, 0);
        assertEquals(5, causes.size());
        causes.add(opening.cause());
        for (Throwable cause : causes) {
            assertEquals("no memory for the operation: as the test wants it", cause.getMessage());
            assertInstanceOf(OutOfMemoryError.class, cause.getCause());
        }
        assertEquals(1, buffer.refCnt());
        assertNull(failure);
        // The owner has to be told, or it keeps the memory.
        remote.close();
        assertEquals("no memory for a message: as the test wants it", failure.getMessage());
        noMemory = false;
        buffer.release();
    }

    @Test
    void aNotificationIsDoneWhenUcxHasTakenIt() {
        start();
        UcxRemoteMemory remote = attached();
        List<Long> done = new ArrayList<>();
        UcxCompletion completion = (id, value, cause) -> {
            assertNull(cause);
            done.add(id);
        };
        remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, 1, completion, 1);
        assertEquals(List.of(1L), done);
        port.deferringSends = true;
        remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, 1, completion, 2);
        remote.flush(completion, 3);
        port.turn();
        exchange.deliver(notifications::add);
        assertEquals(List.of(1L), done);
        port.completeAll();
        port.turn();
        exchange.deliver(notifications::add);
        assertEquals(List.of(1L, 2L, 3L), done);
        assertNull(failure);
    }

    @Test
    void aNotificationThatUcxRefusesFailsWithTheConnection() {
        start();
        UcxRemoteMemory remote = attached();
        List<Throwable> causes = new ArrayList<>();
        port.refusing = true;
        remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, 1, (id, value, cause) -> causes.add(cause), 0);
        exchange.deliver(notifications::add);
        assertEquals(List.of(), causes);
        port.turn();
        assertNotNull(failure);
        connection.close();
        exchange.deliver(notifications::add);
        assertEquals(1, causes.size());
        assertNotNull(causes.getFirst());
    }

    @Test
    void anOwnerThatTakesNoNotificationsIsSentNoMore() {
        start();
        UcxRemoteMemory remote = attached();
        port.deferringSends = true;
        List<Throwable> causes = new ArrayList<>();
        for (int i = 0; i <= MemoryFrame.MAX_OPERATIONS; i++) {
            remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, i, (id, value, cause) -> causes.add(cause), i);
        }
        assertEquals(MemoryFrame.MAX_OPERATIONS, port.sent.size());
        assertEquals(1, causes.size());
        assertEquals(UcxMemoryException.Reason.TOO_MANY, ((UcxMemoryException) causes.getFirst()).reason());
        port.completeAll();
        port.turn();
        exchange.deliver(notifications::add);
        assertEquals(1 + MemoryFrame.MAX_OPERATIONS, causes.size());
        assertNull(causes.getLast());
    }

    @Test
    void anAnswerToANotificationIsAgainstTheProtocol() {
        start();
        UcxRemoteMemory remote = attached();
        port.deferringSends = true;
        remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, 1, null, 0);
        port.deliver(Tag.MEMORY_ANSWER, 0);
        assertInstanceOf(ProtocolException.class, failure);
    }

    @Test
    void anAnswerThatThereIsNoMemoryForFailsItsConnection() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        port.deferringSends = true;
        List<Throwable> causes = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            remote.fetchAndAdd(0, 1, (id, value, cause) -> causes.add(cause), 0);
        }
        noMemory = true;
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), new byte[16]);
        assertFailedWithoutMemory();
        exchange.deliver(notifications::add);
        assertEquals(64, causes.stream().filter(failure::equals).count());
    }

    /** UCX would keep them for as long as there is a worker: nobody receives them. */
    @Test
    void bytesBehindAnOpeningThatIsStillComingAreRefused() {
        start();
        port.deferring = true;
        deliverOpen(memory.exportKey());
        port.deliver(Tag.MEMORY_PUT, 77, new byte[1000]);
        port.deferring = false;
        port.completeAll();
        port.turn();
        assertInstanceOf(ProtocolException.class, failure);
        connection.close();
        assertEquals(0, port.unreceived());
    }

    @Test
    void bytesOfRequestsThatAreStillComingAreBounded() {
        start();
        openAsPeer();
        byte[] bytes = new byte[(int) MemoryFrame.MAX_KEPT / 2 + 1];
        port.deferring = true;
        for (int i = 1; i <= 2; i++) {
            assertNull(failure);
            port.deliver(Tag.MEMORY_REQUEST, i, request(MemoryFrame.PUT, 0, bytes.length, 0, 0, 0));
            port.deliver(Tag.MEMORY_PUT, i, bytes);
        }
        assertInstanceOf(ProtocolException.class, failure);
        connection.close();
        assertEquals(0, port.unreceived());
    }
}
