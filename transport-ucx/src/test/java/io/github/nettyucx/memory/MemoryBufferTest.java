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
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

    @Test
    void soDoesOneWhoseTargetThrowsAnError() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 8, 8) {
            @Override
            public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
                throw new OutOfMemoryError("as the test wants it");
            }
        };
        Throwable cause = failingGet(remote, target);
        assertEquals("no memory for the operation: as the test wants it", cause.getMessage());
        assertInstanceOf(OutOfMemoryError.class, cause.getCause());
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

    /** In some pieces, of which the application has released the last once too often. */
    private static ByteBuf damaged(UnpooledByteBufAllocator allocator, int length, int pieces) {
        CompositeByteBuf all = allocator.compositeDirectBuffer();
        for (int i = 0; i < pieces; i++) {
            all.addComponent(true, allocator.directBuffer(length / pieces).writeBytes(filled(length / pieces)));
        }
        all.component(pieces - 1).release();
        return all;
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 1);
        return bytes;
    }

    /** @param length of bytes that go in the request itself, and of bytes that go behind it: several pieces are copied */
    @ParameterizedTest
    @CsvSource({"8, 2", "8, 1", "1000, 2", "1000, 1"})
    void nothingIsLeftOfAPutWhoseBytesCannotBeHad(int length, int pieces) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        port.sent.clear();
        // From here on there are as many frames as there are.
        noMemory = true;
        assertNothingIsLeft(remote, length, pieces);
        assertEquals(List.of(), port.sent);
        List<Throwable> causes = new ArrayList<>();
        remote.fetchAndAdd(0, 1, (id, value, cause) -> causes.add(cause), 0);
        assertEquals(List.of(), causes, "no frame is left");
        assertEquals(1, port.sent.size());
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value(), new byte[MemoryFrame.ANSWER_LENGTH]);
        remote.flush((id, value, cause) -> causes.add(cause), 0);
        exchange.deliver(notifications::add);
        assertEquals(Arrays.asList(null, null), causes, "something is under way");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void neitherWhereTheMemoryIsAttached(int pieces) {
        start();
        assertNothingIsLeft(attached(), 8, pieces);
        assertArrayEquals(new byte[LENGTH], memory.segment().toArray(ValueLayout.JAVA_BYTE));
    }

    private void assertNothingIsLeft(UcxRemoteMemory remote, int length, int pieces) {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);
        for (int i = 0; i < MANY_PUTS; i++) {
            ByteBuf source = damaged(allocator, length, pieces);
            assertThrows(IllegalReferenceCountException.class, () -> remote.put(0, source, null, 0));
            assertEquals(0, source.refCnt());
            assertEquals(0, allocator.metric().usedDirectMemory());
        }
        assertNull(failure);
    }

    // ------------------------------------------------------------------------------------------- whatever throws

    /** Its bytes cannot be read, such as of a mapped file that somebody has made shorter. */
    private static final class Unreadable extends UnpooledHeapByteBuf {

        Unreadable(int length) {
            super(UnpooledByteBufAllocator.DEFAULT, length, length);
            writerIndex(length);
        }

        @Override
        public boolean hasArray() {
            return false;
        }

        @Override
        public ByteBuf getBytes(int index, ByteBuffer target) {
            throw new InternalError("as the test wants it");
        }

        @Override
        public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
            throw new InternalError("as the test wants it");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 1000})
    void aPutOfBytesThatCannotBeReadLeavesNothing(int length) {
        start();
        UcxRemoteMemory remote = openAsAsker();
        port.sent.clear();
        for (UcxRemoteMemory each : List.of(remote, attached())) {
            ByteBuf source = new Unreadable(length);
            assertThrows(InternalError.class, () -> each.put(0, source, null, 0));
            assertEquals(0, source.refCnt());
        }
        assertEquals(List.of(), port.sent);
    }

    @Test
    void aBatchBeginsWhatItCan() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf unreadable = new Unreadable(8);
        ByteBuf source = Unpooled.directBuffer(8).writeZero(8);
        Future<Void> done = remote.batch().put(0, unreadable).put(0, source).submit();
        assertEquals(0, unreadable.refCnt());
        assertEquals(0, source.refCnt());
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value());
        exchange.deliver(notifications::add);
        assertInstanceOf(InternalError.class, done.cause());
    }

    @Test
    void aBatchThatHasBeenSubmittedKeepsNothingThatItIsGivenLater() {
        start();
        UcxMemoryBatch batch = openAsAsker().batch();
        batch.submit();
        ByteBuf source = Unpooled.directBuffer(8).writeZero(8);
        assertThrows(IllegalStateException.class, () -> batch.put(0, source));
        assertEquals(0, source.refCnt());
    }

    @Test
    void whoIsToldMayThrowAnError() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf buffer = Unpooled.directBuffer(8).writeZero(8);
        List<Throwable> causes = new ArrayList<>();
        UcxCompletion throwing = (id, value, cause) -> {
            causes.add(cause);
            throw new LinkageError("as the test wants it");
        };
        remote.put(0, buffer.retain(), throwing, 0);
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value());
        remote.put(0, buffer.retain(), throwing, 0);
        port.deliver(Tag.MEMORY_ANSWER, port.sent.getLast().value());
        exchange.deliver(notifications::add);
        remote.put(LENGTH, buffer.retain(), throwing, 0);
        attached().put(0, buffer.retain(), throwing, 0);
        assertEquals(4, causes.size());
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }

    @Test
    void aTargetThatHasBecomeSmallerFailsItsFuture() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = Unpooled.directBuffer(8);
        Future<ByteBuf> got = remote.get(0, target, 8);
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        target.capacity(4);
        exchange.deliver(notifications::add);
        assertInstanceOf(IndexOutOfBoundsException.class, got.cause());
        target.release();
    }

    @Test
    void whatAnotherThreadAsksForFailsAndKeepsNoSource() throws Exception {
        start();
        EventExecutor loop = new DefaultEventExecutor();
        try {
            UcxRemoteMemory remote = new UcxRemoteMemory(exchange.access(), loop, 3, LENGTH, UcxMemoryRight.ALL_BITS, null);
            ByteBuf buffer = Unpooled.directBuffer(8).writeZero(8);
            assertThrows(IllegalStateException.class, () -> remote.put(0, buffer.retain(), null, 0));
            assertEquals(1, buffer.refCnt());
            assertThrows(IllegalStateException.class, () -> remote.putAndNotify(0, buffer.retain(), 5, null, 0));
            assertEquals(1, buffer.refCnt());
            assertThrows(IllegalStateException.class, () -> remote.get(0, buffer, 0, 8, null, 0));
            assertEquals(1, buffer.refCnt());
            buffer.release();
            ByteBuf unreadable = new Unreadable(8);
            Future<Void> put = remote.put(0, unreadable);
            assertTrue(put.await(15, TimeUnit.SECONDS), "nobody tells of what was thrown in the loop");
            assertInstanceOf(InternalError.class, put.cause());
            assertEquals(0, unreadable.refCnt());
            assertEquals(List.of(), port.sent);
        } finally {
            assertTrue(loop.shutdownGracefully(0, 15, TimeUnit.SECONDS).await(30, TimeUnit.SECONDS));
        }
    }
}
