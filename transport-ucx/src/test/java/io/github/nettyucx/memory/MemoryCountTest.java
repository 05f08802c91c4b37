// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

/** What is said about memory is counted: who waits for what has been lost does not wait for ever. */
class MemoryCountTest extends MemoryFixture {

    private static final int COUNT = 10;
    private static final String LOST = ": UCX loses them where a host has no shared memory left";

    private List<Integer> counts() {
        return port.sent.stream().filter(sent -> sent.type() == COUNT).map(FakePort.Sent::value).toList();
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
        assertEquals(List.of(), counts());
        port.completeAll();
        port.turn();
        port.second();
        // The answer to the opening, and to the get.
        assertEquals(List.of(2), counts());
    }

    @Test
    void aMessageThatIsMissingEndsTheConnection() {
        start();
        openAsPeer();
        port.deliver(COUNT, 2);
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
        port.deliver(COUNT, 3);
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
        port.deliver(COUNT, 3);
        port.turn();
        assertNull(failure);
    }
}
