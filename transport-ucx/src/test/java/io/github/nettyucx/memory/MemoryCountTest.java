// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import org.junit.jupiter.api.Test;

import java.nio.channels.ClosedChannelException;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

/** What is said about memory is counted: who waits for what has been lost does not wait for ever. */
class MemoryCountTest extends MemoryFixture {

    private static final String LOST = ": UCX loses them where a host has no shared memory left";

    private static int whole(int messages) {
        return messages << 1 | 1;
    }

    private static int begun(int messages) {
        return messages << 1;
    }

    /** The beginning has come. */
    private void deliverPutInParts() {
        deliver(MemoryFrame.PUT, 0, 1000);
        port.deferring = true;
        port.deliver(Tag.MEMORY_PUT, 1, new byte[1000]);
        port.deferring = false;
    }

    @Test
    void isToldWhenUcxHasTakenAll() {
        start();
        openAsPeer();
        port.deferringSends = true;
        deliver(MemoryFrame.GET, 0, 1000);
        for (int i = 0; i < 3; i++) {
            port.second();
        }
        assertEquals(List.of(begun(2)), port.counts);
        port.completeAll();
        port.turn();
        port.second();
        // The answer to the opening, and to the get.
        assertEquals(List.of(begun(2), whole(2)), port.counts);
    }

    /** The connection lasts until its peer has taken the end of the stream. Who fetches the answer then has lost nothing. */
    @Test
    void whatIsGivenUpIsNotToldAsTaken() {
        start();
        openAsPeer();
        port.deferringSends = true;
        deliver(MemoryFrame.GET, 0, 1000);
        port.second();
        port.second();
        exchange.ended(() -> new ClosedChannelException());
        port.second();
        port.second();
        assertEquals(List.of(begun(2)), port.counts);
    }

    /** UCX goes on reading the memory of the answer. */
    @Test
    void whatUcxHasIsKeptThoughThereIsNoMemoryToCountIt() {
        start();
        port.deferringSends = true;
        port.noMemoryToWatch = true;
        deliverOpen(memory.exportKey());
        port.turn();
        assertInstanceOf(OutOfMemoryError.class, failure.getCause());
        assertEquals(1, port.abandoned());
    }

    @Test
    void aMessageThatIsMissingEndsTheConnection() {
        start();
        openAsPeer();
        port.deliver(FakePort.COUNT, whole(2));
        assertInstanceOf(ProtocolException.class, failure);
        assertEquals("messages of the peer's are missing" + LOST, failure.getMessage());
    }

    @Test
    void aPartOfAPutThatIsMissingEndsTheConnection() {
        start();
        openAsPeer();
        deliverPutInParts();
        port.turn();
        assertNull(failure, "it may be on its way");
        port.deliver(FakePort.COUNT, whole(3));
        port.turn();
        assertInstanceOf(ProtocolException.class, failure);
        assertEquals("parts of the peer's messages are missing" + LOST, failure.getMessage());
    }

    @Test
    void aPutThatIsThereEndsNothing() {
        start();
        openAsPeer();
        deliverPutInParts();
        port.completeAll();
        port.deliver(FakePort.COUNT, whole(3));
        port.turn();
        assertNull(failure);
    }
}
