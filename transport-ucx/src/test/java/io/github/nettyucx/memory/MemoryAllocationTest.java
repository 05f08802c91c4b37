// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import com.sun.management.ThreadMXBean;
import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.ConnectionListener;
import io.github.nettyucx.wire.Limits;
import io.github.nettyucx.wire.PlainPort;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.Attachment;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.ImmediateEventExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The forms that say so leave nothing to the garbage collector, whoever carries the operations out. */
class MemoryAllocationTest {

    private static final int ROUNDS = 30_000;
    private static final int LENGTH = 4096;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final AnsweringPort port = new AnsweringPort();
    private final Connection connection = new Connection(port, 1, Limits.MIN_WINDOW, Limits.MIN_WINDOW,
            new Nobody(), Unpooled::directBuffer, Traffic.ofConnection());
    private final MemoryExchange exchange = new MemoryExchange(port, connection, true, () -> { });
    private final UcxMemory memory = UcxMemory.allocateChecked(LENGTH, UcxMemoryRight.values());
    private final ByteBuf buffer = new UnpooledByteBufAllocator(true, true).directBuffer(LENGTH).writeZero(LENGTH);
    private long done;
    private final UcxCompletion completion = (id, value, cause) -> done += cause == null ? 1 : 0;

    /** Answers each request as soon as it is asked to. */
    private static final class AnsweringPort extends PlainPort {

        private final long[] tags = new long[16];
        private final int[] kinds = new int[16];
        private final long[] lengths = new long[16];
        private int count;

        @Override
        public long send(long address, long length, long tag) {
            if (((int) (tag >>> 28) & 0xf) == Tag.MEMORY_REQUEST) {
                kinds[count] = NativeMemory.all().get(ValueLayout.JAVA_BYTE, address);
                lengths[count] = MemoryFrame.getLong(address + MemoryFrame.LENGTH_AT);
                tags[count++] = tag;
            }
            // Some take time.
            return count % 2;
        }

        void answer() {
            for (int i = 0; i < count; i++) {
                int number = (int) tags[i] & Tag.MAX_VALUE;
                switch (kinds[i]) {
                    case MemoryFrame.PUT -> sink.onMessage(Tag.of(1, Tag.MEMORY_ANSWER, number), 1, 0);
                    case MemoryFrame.GET -> sink.onMessage(Tag.of(1, Tag.MEMORY_GET, number), 1, lengths[i]);
                    case MemoryFrame.NOTIFY -> { }
                    default -> sink.onMessage(Tag.of(1, Tag.MEMORY_ANSWER, number), 1, MemoryFrame.ANSWER_LENGTH);
                }
            }
            count = 0;
            if (tracked != null && !tracked.poll()) {
                tracked = null;
            }
        }

        @Override
        public long receive(long message, long address, long length) {
            if (length > 0) {
                NativeMemory.all().set(ValueLayout.JAVA_BYTE, address, (byte) 0);
            }
            return length > 1000 ? 1 : 0;
        }
    }

    private record Nobody() implements ConnectionListener {

        @Override
        public void connectionFailed(IOException cause) {
            throw new AssertionError(cause);
        }

        @Override
        public void inputReady() {
            // Nobody reads.
        }

        @Override
        public void outputReady() {
            // Nobody writes.
        }

        @Override
        public void outputAcknowledged() {
            // Nobody ends.
        }
    }

    @AfterEach
    void close() {
        connection.close();
        memory.close();
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }

    @Test
    void whereTheMemoryIsAttached() {
        assertNothingIsAllocated(new Attachment(null, memory.segment().address()));
    }

    @Test
    void whereTheOwnerCarriesItOut() {
        assertNothingIsAllocated(null);
    }

    private void assertNothingIsAllocated(Attachment attachment) {
        connection.open(1, Limits.MIN_WINDOW, Limits.MIN_WINDOW);
        exchange.start(Runnable::run);
        UcxRemoteMemory remote = new UcxRemoteMemory(exchange.access(), ImmediateEventExecutor.INSTANCE, 1, LENGTH, 7,
                attachment);
        round(remote);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        round(remote);
        long perRound = (THREADS.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
        assertEquals(0, perRound, () -> perRound + " bytes for each round");
        assertEquals(2L * ROUNDS * 8, done);
    }

    private void round(UcxRemoteMemory remote) {
        for (int i = 0; i < ROUNDS; i++) {
            buffer.setIndex(0, 64);
            remote.put(0, buffer.retain(), completion, i);
            buffer.setIndex(0, LENGTH);
            remote.put(0, buffer.retain(), completion, i);
            remote.putAndNotify(0, buffer.retain(), i, completion, i);
            remote.get(0, buffer, 0, 64, completion, i);
            remote.get(0, buffer, 0, LENGTH, completion, i);
            remote.fetchAndAdd(8, 1, completion, i);
            remote.compareAndSwap(8, 1, 2, completion, i);
            remote.flush(completion, i);
            port.answer();
            exchange.deliver(null);
            // What takes time is done in the next turn.
            port.answer();
            exchange.deliver(null);
        }
    }
}
