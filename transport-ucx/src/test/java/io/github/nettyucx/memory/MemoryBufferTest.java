// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.Tag;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledHeapByteBuf;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

/** What the application's buffers and their allocators throw is the matter of one operation. Without a network. */
class MemoryBufferTest extends MemoryFixture {

    private static final byte[] BYTES = "8 bytes.".getBytes(StandardCharsets.US_ASCII);

    /** Has no native memory. */
    private static final class HeapAllocator extends AbstractByteBufAllocator {

        private final RuntimeException refusal;

        /** @param refusal what it throws, or {@code null} for an error that says that there is no memory */
        HeapAllocator(RuntimeException refusal) {
            this.refusal = refusal;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            if (refusal == null) {
                throw new OutOfMemoryError("as the test wants it");
            }
            throw refusal;
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    /** @return why it has failed */
    private Throwable failingGet(UcxRemoteMemory remote, ByteBuf target) {
        List<Throwable> causes = new ArrayList<>();
        List<Throwable> flushed = new ArrayList<>();
        remote.get(0, target, 0, 8, (id, value, cause) -> causes.add(cause), 0);
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        assertEquals(0, port.unreceived());
        remote.flush((id, value, cause) -> flushed.add(cause), 0);
        exchange.deliver(notifications::add);
        assertNull(failure);
        assertEquals(Collections.singletonList(null), flushed);
        assertEquals(1, causes.size());
        assertEquals(1, target.refCnt());
        return causes.getFirst();
    }

    private void assertGets(UcxRemoteMemory remote) {
        ByteBuf target = Unpooled.buffer(8);
        List<Throwable> causes = new ArrayList<>();
        remote.get(0, target, 0, 8, (id, value, cause) -> causes.add(cause), 0);
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        exchange.deliver(notifications::add);
        assertEquals(Collections.singletonList(null), causes);
        assertEquals(Unpooled.wrappedBuffer(BYTES), target.writerIndex(8));
        target.release();
    }

    @Test
    void aGetThatThereIsNoMemoryToReceiveFailsAlone() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = new HeapAllocator(null).heapBuffer(8, 8);
        Throwable cause = failingGet(remote, target);
        assertEquals("no memory for the operation: as the test wants it", cause.getMessage());
        assertInstanceOf(OutOfMemoryError.class, cause.getCause());
        target.release();
        assertGets(remote);
    }

    @Test
    void soDoesOneWhoseTargetHasAnAllocatorThatThrows() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        RuntimeException refusal = new UnsupportedOperationException("as the test wants it");
        ByteBuf target = new HeapAllocator(refusal).heapBuffer(8, 8);
        assertSame(refusal, failingGet(remote, target));
        target.release();
        assertGets(remote);
    }
}
