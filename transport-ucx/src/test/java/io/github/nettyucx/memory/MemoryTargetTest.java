// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.Tag;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Which buffers the bytes of a get may go to, and for how long. Without a network. */
class MemoryTargetTest extends MemoryFixture {

    private static final byte[] BYTES = "8 bytes.".getBytes(StandardCharsets.US_ASCII);
    private static final PooledByteBufAllocator POOL = PooledByteBufAllocator.DEFAULT;
    private static final long SECONDS = 15;

    // ------------------------------------------------------------------------------------------- given up

    @Test
    void aTargetThatIsGivenUpIsNobodyElsesBeforeItsGetIsOver() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = POOL.directBuffer(64, 64);
        Future<ByteBuf> got = remote.get(0, target, BYTES.length);
        target.release();
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        // Of a pool it is the same object, if that has been given back.
        ByteBuf other = POOL.directBuffer(64, 64).writeZero(20);
        exchange.deliver(notifications::add);
        assertEquals(20, other.writerIndex());
        assertTrue(got.isSuccess());
        assertEquals(0, target.refCnt());
        other.release();
    }

    @Test
    void whoIsToldOfAGetHasTheOnlyReferenceToItsTarget() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf target = POOL.directBuffer(64, 64);
        List<Integer> references = new ArrayList<>();
        remote.get(0, target, BYTES.length).addListener(got -> references.add(target.refCnt()));
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        exchange.deliver(notifications::add);
        remote.get(LENGTH, target, BYTES.length).addListener(got -> references.add(target.refCnt()));
        assertEquals(List.of(1, 1), references);
        assertEquals(Unpooled.wrappedBuffer(BYTES), target);
        target.release();
    }

    /** @param batch whether the get is one of a batch */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTargetIsKeptUntilTheLoopBeginsItsGet(boolean batch) throws Exception {
        start();
        EventExecutor loop = new DefaultEventExecutor();
        CountDownLatch busy = new CountDownLatch(1);
        try {
            loop.execute(() -> {
                try {
                    busy.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            UcxRemoteMemory remote = new UcxRemoteMemory(exchange.access(), loop, 3, LENGTH, UcxMemoryRight.ALL_BITS, null);
            ByteBuf target = POOL.directBuffer(64, 64);
            Future<?> got = batch ? remote.batch().get(0, target, 0, BYTES.length).submit()
                    : remote.get(0, target, BYTES.length);
            target.release();
            assertEquals(1, target.refCnt());
            busy.countDown();
            assertTrue(loop.submit(() -> { }).await(SECONDS, TimeUnit.SECONDS));
            port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
            exchange.deliver(notifications::add);
            assertTrue(got.await(SECONDS, TimeUnit.SECONDS));
            assertNull(got.cause());
            assertEquals(0, target.refCnt());
        } finally {
            busy.countDown();
            assertTrue(loop.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).await(2 * SECONDS, TimeUnit.SECONDS));
        }
    }

    // ------------------------------------------------------------------------------------------- an allocator that closes

    /** @param made what has been made of direct memory */
    private ByteBufAllocator closing(List<ByteBuf> made) {
        return new AbstractByteBufAllocator() {
            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                ByteBuf buffer = Unpooled.directBuffer(initialCapacity, maxCapacity);
                made.add(buffer);
                exchange.ended(() -> new IOException("closed"));
                return buffer;
            }

            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }
        };
    }

    /** UCX writes into memory of the target's allocator, which is the application's, where the target is in pieces. */
    @Test
    void aTargetWhoseAllocatorClosesTheChannelEndsOnce() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        List<ByteBuf> made = new ArrayList<>();
        ByteBuf target = closing(made).heapBuffer(64);
        Future<ByteBuf> got = remote.get(0, target, BYTES.length);
        Future<ByteBuf> other = remote.get(0, POOL.directBuffer(64, 64), BYTES.length);
        port.deliver(Tag.MEMORY_GET, port.sent.get(port.sent.size() - 2).value(), BYTES);
        exchange.deliver(notifications::add);
        assertEquals("closed", got.cause().getMessage());
        assertEquals("closed", other.cause().getMessage());
        assertEquals(1, made.size());
        assertEquals(0, made.getFirst().refCnt());
        assertEquals(0, port.unreceived());
    }

    /** UCX reads from memory of the source's allocator, where the source is in pieces. */
    @Test
    void aSourceWhoseAllocatorClosesTheChannelIsReleasedAndThePutIsTold() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        List<ByteBuf> made = new ArrayList<>();
        ByteBuf source = closing(made).heapBuffer(400).writeZero(400);
        int sent = port.sent.size();
        Future<Void> put = remote.put(0, source);
        exchange.deliver(notifications::add);
        assertEquals("closed", put.cause().getMessage());
        assertEquals(sent, port.sent.size());
        assertEquals(0, source.refCnt());
        assertEquals(1, made.size());
        assertEquals(0, made.getFirst().refCnt());
        assertTrue(remote.flush().isDone());
    }

    // ------------------------------------------------------------------------------------------- read-only

    /** @param attached whether this process would write the bytes, or else UCX */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingIsWrittenToWhatCanOnlyBeRead(boolean attached) {
        start();
        UcxRemoteMemory remote = attached ? attached() : openAsAsker();
        memory.segment().fill((byte) 1);
        port.sent.clear();
        ByteBuffer mapped = ByteBuffer.allocateDirect(8);
        ByteBuf direct = Unpooled.directBuffer(8).writeZero(8);
        ByteBuf heap = Unpooled.buffer(8).writeZero(8);
        for (ByteBuf target : List.of(direct.retain().asReadOnly(), heap.retain().asReadOnly(),
                Unpooled.wrappedBuffer(mapped.asReadOnlyBuffer()),
                Unpooled.compositeBuffer().addComponent(true, Unpooled.wrappedBuffer(mapped.asReadOnlyBuffer())),
                Unpooled.compositeBuffer().addComponent(true, direct.retain().asReadOnly()),
                Unpooled.compositeBuffer().addComponent(true, heap.retainedSlice(0, 4))
                        .addComponent(true, direct.retain().asReadOnly().slice(0, 4)),
                Unpooled.compositeBuffer().addComponent(true, direct.retain().asReadOnly()).slice(0, 8))) {
            assertThrows(ReadOnlyBufferException.class, () -> remote.get(0, target, 0, 8, null, 0), target::toString);
            assertInstanceOf(ReadOnlyBufferException.class, remote.batch().get(0, target, 0, 8).submit().cause());
            assertEquals(0, target.getLong(0));
            target.release();
        }
        ByteBuf readOnly = direct.asReadOnly().clear();
        assertThrows(ReadOnlyBufferException.class, () -> remote.get(0, readOnly, 8));
        assertEquals(List.of(), port.sent);
        assertEquals(1, direct.refCnt());
        assertEquals(1, heap.refCnt());
        direct.release();
        heap.release();
    }

    // ------------------------------------------------------------------------------------------- in several pieces

    /** @param attached whether this process would write the bytes, or else UCX */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noPieceIsWrittenIfAnotherHasBeenReleased(boolean attached) {
        start();
        UcxRemoteMemory remote = attached ? attached() : openAsAsker();
        memory.segment().fill((byte) 1);
        port.sent.clear();
        ByteBuf first = Unpooled.buffer(4).writeZero(4);
        ByteBuf second = Unpooled.buffer(4).writeZero(4);
        ByteBuf target = Unpooled.compositeBuffer().addComponent(true, first).addComponent(true, second);
        second.release();
        assertThrows(IllegalReferenceCountException.class, () -> remote.get(0, target, 0, 8, null, 0));
        assertEquals(List.of(), port.sent);
        assertEquals(0, first.getInt(0));
        assertThrows(IllegalReferenceCountException.class, target::release);
        assertEquals(0, first.refCnt());
    }

    @Test
    void noPieceIsWrittenIfAnotherIsReleasedMeanwhile() {
        start();
        UcxRemoteMemory remote = openAsAsker();
        ByteBuf first = Unpooled.buffer(4).writeZero(4);
        ByteBuf second = Unpooled.buffer(4).writeZero(4);
        ByteBuf target = Unpooled.compositeBuffer().addComponent(true, first).addComponent(true, second);
        List<Throwable> causes = new ArrayList<>();
        remote.get(0, target, 0, 8, (id, value, cause) -> causes.add(cause), 0);
        second.release();
        port.deliver(Tag.MEMORY_GET, port.sent.getLast().value(), BYTES);
        exchange.deliver(notifications::add);
        assertEquals(1, causes.size());
        assertInstanceOf(IllegalReferenceCountException.class, causes.getFirst());
        assertEquals(0, first.getInt(0));
        assertThrows(IllegalReferenceCountException.class, target::release);
        assertNull(failure);
    }
}
