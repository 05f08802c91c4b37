// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.Tag;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** What the application's buffers and their allocators throw is the matter of one operation. Without a network. */
class MemoryBufferTest extends MemoryFixture {

    private static final byte[] BYTES = "8 bytes.".getBytes(StandardCharsets.US_ASCII);
    /** At least as many as there are without more memory. */
    private static final int MANY_PUTS = 100;

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

    /** Its direct buffers are memory of the heap. */
    private static final class WithoutDirectBuffers extends AbstractByteBufAllocator {

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return newHeapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    @Test
    void anAllocatorWithoutDirectBuffersWillDo() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf buffer = new WithoutDirectBuffers().directBuffer(1000, 1000).writeZero(1000).setBytes(0, BYTES);
        List<Throwable> causes = new ArrayList<>();
        remote.put(0, buffer.retainedSlice(), (id, value, cause) -> causes.add(cause), 0);
        FakePort.Sent put = port.sent.getLast();
        assertEquals(buffer, Unpooled.wrappedBuffer(put.bytes()));
        port.deliver(Tag.MEMORY_ANSWER, put.value());
        buffer.setZero(0, 8);
        remote.get(0, buffer, 0, 8, (id, value, cause) -> causes.add(cause), 0);
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        exchange.deliver(notifications::add);
        assertEquals(Arrays.asList(null, null), causes);
        assertEquals(Unpooled.wrappedBuffer(BYTES), buffer.slice(0, 8));
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }

    /** In two pieces, of which the application has released the second once too often. */
    private static ByteBuf damaged(UnpooledByteBufAllocator allocator, int length) {
        ByteBuf second = allocator.directBuffer(length / 2).writeZero(length / 2);
        CompositeByteBuf both = allocator.compositeDirectBuffer()
                .addComponent(true, allocator.directBuffer(length / 2).writeZero(length / 2)).addComponent(true, second);
        second.release();
        return both;
    }

    /** @param length of bytes that go in the request itself, and of bytes that are copied to go behind it */
    @ParameterizedTest
    @ValueSource(ints = {8, 1000})
    void nothingIsLeftOfAPutWhoseBytesCannotBeHad(int length) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        port.sent.clear();
        // From here on there are as many frames as there are.
        noMemory = true;
        assertNothingIsLeft(remote, length);
        assertEquals(List.of(), port.sent);
        List<Throwable> causes = new ArrayList<>();
        remote.fetchAndAdd(0, 1, (id, value, cause) -> causes.add(cause), 0);
        assertEquals(List.of(), causes, "no frame is left");
        assertEquals(1, port.sent.size());
    }

    @Test
    void neitherWhereTheMemoryIsAttached() {
        start();
        assertNothingIsLeft(attached(), 8);
    }

    private void assertNothingIsLeft(UcxRemoteMemory remote, int length) {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);
        for (int i = 0; i < MANY_PUTS; i++) {
            ByteBuf source = damaged(allocator, length);
            assertThrows(IllegalReferenceCountException.class, () -> remote.put(0, source, null, 0));
            assertEquals(0, source.refCnt());
            assertEquals(0, allocator.metric().usedDirectMemory());
        }
        assertNull(failure);
    }
}
