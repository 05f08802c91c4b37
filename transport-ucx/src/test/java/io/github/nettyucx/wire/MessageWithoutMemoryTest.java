// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** There is no memory for what a message needs: its connection fails, and nobody else learns of it. */
class MessageWithoutMemoryTest extends ConnectionFixture implements MemoryMessages {

    private static final String MESSAGE = "no memory for a message: as the test wants it";

    private IOException end;
    private boolean noMemoryForInput;

    @BeforeEach
    void takeMessages() {
        connection.memory(this);
        open();
    }

    @Override
    public void opened(int peerChannelId) {
        assertEquals(PEER, peerChannelId);
    }

    @Override
    public void onMessage(int type, int value, long message, long length) {
        port.receive(message, 0, 0);
        throw new OutOfMemoryError("as the test wants it");
    }

    @Override
    public boolean isSending() {
        return false;
    }

    @Override
    public void counted() {
        throw new AssertionError("by whom?");
    }

    @Override
    public void ended(Supplier<IOException> cause) {
        end = cause.get();
    }

    @Override
    public void inputReady() {
        super.inputReady();
        if (noMemoryForInput) {
            throw new OutOfMemoryError("as the test wants it");
        }
    }

    @Test
    void aMessageAboutMemoryFailsItsConnection() {
        port.deliver(Tag.DATA, 0, text("before"));
        port.deliver(Tag.MEMORY_REQUEST, 1, new byte[40]);
        assertFailed(IOException.class, MESSAGE);
        assertInstanceOf(OutOfMemoryError.class, failure.getCause());
        assertEquals(CloseReason.LOST, connection.closeReason());
        assertEquals(failure, end);
        assertEquals("before", read(10));
        // What still comes is thrown away.
        port.deliver(Tag.MEMORY_REQUEST, 2, new byte[40]);
        port.deliver(Tag.DATA, 0, text("behind"));
        assertEquals(3, port.droppedCount());
        assertEquals(1, told.stream().filter("failed"::equals).count());
    }

    @Test
    void aMessageOfTheStreamDoesAsWell() {
        noMemoryForInput = true;
        port.deliver(Tag.DATA, 0, text("bytes"));
        assertFailed(IOException.class, MESSAGE);
        assertEquals("bytes", read(10));
    }

    @Test
    void whatNobodyReadsNeedsNone() {
        noMemory = true;
        for (int i = 0; i < 20; i++) {
            port.deliver(Tag.DATA, 0, text("x"));
        }
        noMemory = false;
        assertTrue(connection.isOpen());
        assertEquals(List.of(), told.stream().filter("failed"::equals).toList());
        StringBuilder bytes = new StringBuilder();
        for (String next = read(100); next != null; next = read(100)) {
            bytes.append(next);
        }
        assertEquals("x".repeat(20), bytes.toString());
    }
}
