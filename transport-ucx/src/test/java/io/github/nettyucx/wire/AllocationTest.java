// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What goes over an open connection leaves nothing to the garbage collector. */
class AllocationTest {

    private static final int ID = 5;
    private static final int WINDOW = 64 * 1024;
    private static final int LENGTH = 1000;
    private static final int MESSAGES = 20_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final DeferringPort port = new DeferringPort();
    private final Counter listener = new Counter();
    private final ByteBuf memory = new UnpooledByteBufAllocator(true, true).directBuffer(WINDOW);
    /** Always the same buffer, so that what an allocator does is not counted. */
    private final Inbound.Allocation allocation = length -> memory.clear().retain();
    /** Messages that have come, and the credit that they have not granted. */
    private int arrived;
    private int owed;
    private final Connection connection = new Connection(port, ID, WINDOW, WINDOW / 4, listener, allocation,
            Traffic.ofConnection());

    /** Completes every operation at once, or every one in the next turn. */
    private static final class DeferringPort extends PlainPort {
        private boolean deferring;
        private long sent;

        @Override
        public long send(long address, long length, long tag) {
            sent += length;
            return deferring ? 1 : 0;
        }

        @Override
        public long receive(long message, long address, long length) {
            return deferring && length > 0 ? 1 : 0;
        }
    }

    private static final class Counter implements ConnectionListener {
        private IOException failure;
        private long inputs;

        @Override
        public void connectionFailed(IOException cause) {
            failure = cause;
        }

        @Override
        public void inputReady() {
            inputs++;
        }

        @Override
        public void outputReady() {
            // Takes note of nothing.
        }

        @Override
        public void outputAcknowledged() {
            // Takes note of nothing.
        }
    }

    @AfterEach
    void close() {
        connection.close();
        memory.release();
        assertEquals(0, memory.refCnt());
    }

    @Test
    void whenUcxIsDoneAtOnce() {
        assertNothingIsAllocated(false);
    }

    @Test
    void whenOperationsTakeTime() {
        assertNothingIsAllocated(true);
    }

    private void assertNothingIsAllocated(boolean deferring) {
        connection.open(ID, WINDOW, WINDOW / 4);
        connection.wanted(true);
        port.deferring = deferring;
        exchange(MESSAGES);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        exchange(MESSAGES);
        long perMessage = (THREADS.getCurrentThreadAllocatedBytes() - before) / MESSAGES;
        assertEquals(0, perMessage, () -> perMessage + " bytes for each message there and back");
        assertTrue(listener.inputs >= 2 * MESSAGES);
        assertEquals(2L * MESSAGES * LENGTH, port.sent);
        assertEquals(null, listener.failure);
    }

    private void exchange(int messages) {
        long address = memory.memoryAddress();
        for (int i = 0; i < messages; i++) {
            if (connection.outbound().send(address, LENGTH, memory, LENGTH, connection.inbound().takeGrantForData())) {
                memory.retain();
            }
            connection.settle();
            owed += LENGTH + Limits.MESSAGE_CHARGE;
            int grant = owed - owed % Tag.GRANT_UNIT;
            owed -= grant;
            port.sink.onMessage(Tag.ofData(ID, arrived++, grant), 1, LENGTH);
            ByteBuf buffer = connection.read(WINDOW, allocation);
            connection.settle();
            turn();
            if (buffer == null) {
                buffer = connection.read(WINDOW, allocation);
            }
            assertEquals(LENGTH, buffer.readableBytes());
            buffer.release();
            connection.outbound().completed();
            connection.settle();
            turn();
        }
    }

    private void turn() {
        if (port.tracked != null && !port.tracked.poll()) {
            port.tracked = null;
        }
    }
}
