// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

import static io.github.nettyucx.wire.ScriptedPort.INLINE;
import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The application learns when its buffers are released, and closes the connection then: nothing is given back twice. */
class ClosingBufferTest extends ConnectionFixture {

    /** Who releases a buffer does not pass on what that throws. */
    private final List<Throwable> failures = new ArrayList<>();

    @Override
    ByteBuf allocate(int capacity) {
        return port.memory.allocate(capacity, () -> {
            try {
                connection.close();
            } catch (Throwable t) {
                failures.add(t);
            }
        });
    }

    @AfterEach
    void isClosed() {
        assertEquals(List.of(), failures);
        assertFalse(port.isRegistered());
        assertFalse(connection.inbound().isReadable());
        assertFalse(connection.inbound().isInFlight());
    }

    @Test
    void whenItsInputIsThrownAway() {
        open();
        for (int i = 0; i < 8; i++) {
            port.deliver(Tag.DATA, 0, text("held"));
        }
        port.deliver(Tag.DATA, 0, text("in a buffer"));
        assertEquals(1, port.receiveCount());
        connection.discardInput();
        assertEquals(8, port.droppedCount());
        assertEquals(1, port.receiveCount());
    }

    @Test
    void whenAReceiveIsRefused() {
        open();
        for (String text : List.of("one", "two", "three")) {
            port.deliver(Tag.DATA, 0, text(text));
        }
        port.answer(UcsStatus.ERR_NO_MEMORY);
        assertNull(read(10));
        assertEquals(2, port.droppedCount(), "those that were not to be received");
    }

    @Test
    void whenAReceiveFails() {
        open();
        for (String text : List.of("one", "two", "three")) {
            port.deliver(Tag.DATA, 0, text(text));
        }
        port.answer(PENDING, PENDING, PENDING);
        assertNull(read(10));
        port.complete(port.receive(0), UcsStatus.ERR_IO_ERROR);
        port.poll();
        assertEquals(0, port.droppedCount());
    }

    @Test
    void whenTheConnectionIsLost() {
        open();
        for (String text : List.of("one", "two", "three")) {
            port.deliver(Tag.DATA, 0, text(text));
        }
        port.answer(PENDING, PENDING, INLINE);
        assertNull(read(10));
        port.complete(port.receive(0), UcsStatus.OK);
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertEquals(0, port.droppedCount());
        assertNull(failure, "told of what it has closed itself");
    }

    @Test
    void whenTheLastBytesBeforeThePeersEndCannotBeReceived() {
        open();
        port.deliver(Tag.DATA, 0, text("one"));
        port.answer(PENDING);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        port.complete(port.receive(0), UcsStatus.ERR_IO_ERROR);
        connection.peerGone(new SocketException("Connection reset by peer"));
        assertNull(failure, "told of what it has closed itself");
    }

    @Test
    void whenASendIsDone() {
        open();
        port.answer(PENDING, PENDING);
        send(10);
        send(20);
        port.complete(port.lastRequest() - 1, UcsStatus.OK);
        port.poll();
        assertEquals(List.of(), told, "told of what it has closed itself");
        assertEquals(0, connection.outbound().completed());
        assertTrue(connection.outbound().isIdle());
    }
}
