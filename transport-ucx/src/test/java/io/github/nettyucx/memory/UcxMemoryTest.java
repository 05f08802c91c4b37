// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CompletableFuture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Which memory a peer can be given access to, and which not. What is refused stays as it was. */
class UcxMemoryTest {

    private static final ByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;

    private static void assertRefused(String why, ByteBuf buffer, UcxMemoryRight... rights) {
        int references = buffer.refCnt();
        String message = assertThrows(IllegalArgumentException.class, () -> UcxMemory.of(buffer, rights)).getMessage();
        assertTrue(message.contains(why), message);
        assertEquals(references, buffer.refCnt());
        buffer.release();
    }

    @Test
    void whatIsNotOnePieceOfNativeMemoryIsRefused() {
        assertRefused("expected: a direct buffer of one piece", ALLOCATOR.heapBuffer(8).writeLong(1), UcxMemoryRight.READ);
        assertRefused("expected: a direct buffer of one piece", Unpooled.wrappedBuffer(new byte[8]), UcxMemoryRight.READ);
        CompositeByteBuf two = ALLOCATOR.compositeDirectBuffer().addComponent(true, ALLOCATOR.directBuffer(8).writeLong(1))
                .addComponent(true, ALLOCATOR.directBuffer(8).writeLong(2));
        assertRefused("expected: a direct buffer of one piece", two, UcxMemoryRight.READ);
    }

    @Test
    void whatHasNoReadableByteIsRefused() {
        assertRefused("expected: at least 1 byte", ALLOCATOR.directBuffer(8), UcxMemoryRight.READ);
        assertRefused("expected: at least 1 byte", ALLOCATOR.directBuffer(8).writeLong(1).skipBytes(8), UcxMemoryRight.READ);
    }

    @Test
    void whatHasBeenReleasedIsRefused() {
        ByteBuf buffer = ALLOCATOR.directBuffer(8).writeLong(1);
        ByteBuf part = buffer.slice();
        buffer.release();
        assertThrows(IllegalReferenceCountException.class, () -> UcxMemory.of(buffer, UcxMemoryRight.READ));
        assertThrows(IllegalReferenceCountException.class, () -> UcxMemory.of(part, UcxMemoryRight.READ));
    }

    /** The memory is not lost because somebody uses it at the moment. */
    @Test
    @Timeout(60)
    void memoryThatANativeCallUsesIsGivenBackWhenTheCallHasReturned() throws Exception {
        ByteBuf buffer = Unpooled.directBuffer(8 << 20).writeZero(8 << 20);
        Pipe pipe = Pipe.open();
        UcxMemory memory = UcxMemory.of(buffer, UcxMemoryRight.READ);
        ByteBuffer bytes = memory.segment().asByteBuffer();
        var written = new CompletableFuture<Integer>();
        Thread writer = Thread.ofPlatform().start(() -> {
            try {
                written.complete(pipe.sink().write(bytes));
            } catch (Throwable e) {
                written.completeExceptionally(e);
            }
        });
        ByteBuffer part = ByteBuffer.allocate(1 << 20);
        // Some of it has come: the call has begun, and goes on until the rest has been taken.
        int read = pipe.source().read(part);
        CompletableFuture<Void> revoked = memory.revoke();
        assertFalse(revoked.isDone(), "the call has ended");
        assertEquals(2, buffer.refCnt());
        while (read < buffer.readableBytes()) {
            read += pipe.source().read(part.clear());
        }
        assertEquals(read, written.get());
        writer.join();
        revoked.get();
        assertEquals(1, buffer.refCnt());
        buffer.release();
        pipe.sink().close();
        pipe.source().close();
    }

    /** An event loop that writes into a page of a file that is mapped to be read would end the process. */
    @Test
    void whatCanOnlyBeReadCannotBeWrittenByPeersEither() {
        ByteBuffer memory = ByteBuffer.allocateDirect(64);
        for (UcxMemoryRight right : new UcxMemoryRight[] {UcxMemoryRight.WRITE, UcxMemoryRight.ATOMIC}) {
            assertRefused("read-only", Unpooled.wrappedBuffer(memory.asReadOnlyBuffer()), right);
            assertRefused("read-only", Unpooled.wrappedBuffer(memory.asReadOnlyBuffer()), UcxMemoryRight.READ, right);
            assertRefused("read-only", ALLOCATOR.directBuffer(64).writeZero(64).asReadOnly(), right);
            assertRefused("read-only", Unpooled.compositeBuffer()
                    .addComponent(true, Unpooled.wrappedBuffer(memory.asReadOnlyBuffer())), right);
        }
        for (ByteBuf buffer : new ByteBuf[] {Unpooled.wrappedBuffer(memory.asReadOnlyBuffer()),
            ALLOCATOR.directBuffer(64).writeZero(64).asReadOnly()}) {
            try (UcxMemory region = UcxMemory.of(buffer, UcxMemoryRight.READ)) {
                assertEquals(64, region.length());
            }
            assertEquals(1, buffer.refCnt());
            buffer.release();
        }
    }

    @Test
    void atomicOperationsNeedAnAddressThat8Divides() {
        ByteBuf buffer = ALLOCATOR.directBuffer(64).writeZero(64);
        for (int i = 1; i < 8; i++) {
            assertRefused("8 does not divide", buffer.retainedSlice(i, 16), UcxMemoryRight.READ, UcxMemoryRight.ATOMIC);
            try (UcxMemory region = UcxMemory.of(buffer.slice(i, 16), UcxMemoryRight.READ, UcxMemoryRight.WRITE)) {
                assertEquals(16, region.length());
            }
        }
        try (UcxMemory region = UcxMemory.of(buffer.slice(8, 16), UcxMemoryRight.ATOMIC)) {
            assertEquals(16, region.length());
        }
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }

    @Test
    void noMemoryHasLessThanAByteOrMoreThanThereIs() {
        for (long length : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> UcxMemory.allocate(length, UcxMemoryRight.READ));
            assertThrows(IllegalArgumentException.class, () -> UcxMemory.allocateChecked(length, UcxMemoryRight.READ));
        }
        // More than a process can address. Not by allocate(), which looks at the same bound: without it UCX would fill all of
        // the machine's memory.
        var error = assertThrows(OutOfMemoryError.class, () -> UcxMemory.allocateChecked(1L << 56, UcxMemoryRight.READ));
        assertTrue(error.getMessage().contains("expected: at most the "), error.getMessage());
    }
}
