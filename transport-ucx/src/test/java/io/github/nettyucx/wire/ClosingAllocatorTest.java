// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.SocketException;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

/** The application's allocator closes the connection, or shuts its input down: what UCX has thrown away is not received. */
class ClosingAllocatorTest extends ConnectionFixture {

    /** {@code null} as long as it only allocates. */
    private Runnable end;

    @Override
    ByteBuf allocate(int capacity) {
        if (end != null) {
            end.run();
        }
        return port.memory.allocate(capacity);
    }

    private void endBy(boolean close) {
        end = close ? connection::close : connection::discardInput;
    }

    private void deliver(int messages) {
        for (int i = 0; i < messages; i++) {
            port.deliver(Tag.DATA, 0, text("held"));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whenItReads(boolean close) {
        open();
        deliver(3);
        endBy(close);
        assertNull(read(10));
        assertEquals(3, port.droppedCount());
        assertEquals(0, port.receiveCount());
        assertFalse(connection.inbound().isReadable());
    }

    /** More than are left with UCX. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whenNobodyReads(boolean close) {
        open();
        deliver(8);
        endBy(close);
        deliver(1);
        assertEquals(9, port.droppedCount());
        assertEquals(0, port.receiveCount());
        assertFalse(connection.inbound().isReadable());
    }

    @Test
    void whenThePeerHasGone() {
        open();
        deliver(3);
        endBy(true);
        connection.peerGone(new SocketException("Connection reset by peer"));
        assertEquals(3, port.droppedCount());
        assertEquals(0, port.receiveCount());
        assertNull(failure, "told of what it has closed itself");
    }
}
