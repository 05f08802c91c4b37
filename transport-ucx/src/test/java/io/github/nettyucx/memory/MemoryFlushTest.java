// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.wire.Tag;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** Which failures a flush tells, and what counts as under way. Without a network. */
class MemoryFlushTest extends MemoryFixture {

    private static final int LARGE = 1000;

    private final List<String> told = new ArrayList<>();
    private final UcxCompletion completion = (id, value, cause) -> told.add(id + ": " + reason(cause));

    private static Object reason(Throwable cause) {
        return cause instanceof UcxMemoryException refused ? refused.reason() : cause == null ? "done" : cause;
    }

    /** Of which nobody is told. @return its number, if it has been sent */
    private int put(UcxRemoteMemory remote, long offset) {
        remote.put(offset, Unpooled.directBuffer(LARGE).writeZero(LARGE), null, 0);
        return port.sent.getLast().value();
    }

    private void answer(int number) {
        port.deliver(Tag.MEMORY_ANSWER, number);
    }

    private void refuse(int number, Reason reason) {
        port.deliver(Tag.MEMORY_ANSWER, number,
                ByteBuffer.allocate(MemoryFrame.ANSWER_LENGTH).put(0, (byte) reason.code()).array());
    }

    @Test
    void aFlushTellsWhatHasFailedBeforeItAndNotBehind() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        int first = put(remote, 0);
        remote.flush(completion, 1);
        put(remote, LENGTH);
        remote.flush(completion, 2);
        remote.flush(completion, 3);
        assertEquals(List.of(), told);
        answer(first);
        exchange.deliver(notifications::add);
        assertEquals(List.of("1: done", "2: OUT_OF_RANGE", "3: done"), told);
    }

    @Test
    void soItIsWithWhatTheOwnerRefuses() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        int first = put(remote, 0);
        remote.flush(completion, 1);
        int second = put(remote, 0);
        remote.flush(completion, 2);
        refuse(second, Reason.TOO_MANY);
        exchange.deliver(notifications::add);
        assertEquals(List.of(), told);
        answer(first);
        exchange.deliver(notifications::add);
        assertEquals(List.of("1: done", "2: TOO_MANY"), told);
    }

    @Test
    void theFirstOfSeveralIsTold() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        int first = put(remote, 0);
        put(remote, LENGTH);
        int second = put(remote, 0);
        remote.flush(completion, 1);
        refuse(second, Reason.TOO_MANY);
        exchange.deliver(notifications::add);
        refuse(first, Reason.REVOKED);
        exchange.deliver(notifications::add);
        remote.flush(completion, 2);
        assertEquals(List.of("1: REVOKED", "2: done"), told);
    }

    @Test
    void whatFailsWhileAFlushIsToldIsBehindThoseThatWait() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        int first = put(remote, 0);
        remote.flush((id, value, cause) -> {
            told.add("1: " + reason(cause));
            put(remote, LENGTH);
        }, 1);
        remote.flush(completion, 2);
        answer(first);
        exchange.deliver(notifications::add);
        remote.flush(completion, 3);
        assertEquals(List.of("1: done", "2: done", "3: OUT_OF_RANGE"), told);
    }

    // ------------------------------------------------------------------------------------------- under way

    @Test
    void whatIsDoneIsNotUnderWayThoughSomethingBeforeItIs() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = Unpooled.directBuffer(8, 8);
        remote.get(0, target, 0, 8, completion, 1);
        int get = port.sent.getLast().value();
        List<Throwable> causes = new ArrayList<>();
        byte[] previous = new byte[MemoryFrame.ANSWER_LENGTH];
        for (int i = 0; i < MemoryFrame.MAX_OPERATIONS; i++) {
            remote.fetchAndAdd(0, 1, (id, value, cause) -> {
                if (cause != null) {
                    causes.add(cause);
                }
            }, 0);
            port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), previous);
            exchange.deliver(notifications::add);
        }
        assertEquals(List.of(), causes);
        remote.flush(completion, 2);
        assertEquals(List.of(), told);
        port.deliver(Tag.MEMORY_GET, get, new byte[8]);
        exchange.deliver(notifications::add);
        assertEquals(List.of("1: done", "2: done"), told);
        target.release();
    }

    @Test
    void aViewNeedsNoRoomForAnOperation() throws Exception {
        start();
        UcxRemoteMemory remote = attached();
        port.deferringSends = true;
        for (int i = 0; i < MemoryFrame.MAX_OPERATIONS; i++) {
            remote.putAndNotify(0, Unpooled.EMPTY_BUFFER, i, null, 0);
        }
        remote.fetchAndAdd(0, 1, completion, 1);
        assertEquals(List.of("1: TOO_MANY"), told);
        assertEquals(LENGTH, remote.view().byteSize());
        assertNull(failure);
        connection.close();
        assertFalse(connection.isOpen());
        assertThrows(IllegalStateException.class, remote::view);
    }
}
