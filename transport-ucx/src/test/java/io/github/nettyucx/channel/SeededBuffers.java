// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Makes buffers of every kind that applications write. */
final class SeededBuffers {

    private static final int MAX_DEPTH = 3;

    private final RandomGenerator random;
    private final ByteBufAllocator allocator;

    SeededBuffers(RandomGenerator random, ByteBufAllocator allocator) {
        this.random = random;
        this.allocator = allocator;
    }

    /** A buffer whose readable bytes are these. */
    ByteBuf of(byte[] bytes) {
        return of(bytes, 0);
    }

    private ByteBuf of(byte[] bytes, int depth) {
        return switch (random.nextInt(depth < MAX_DEPTH ? 12 : 7)) {
            case 0, 1 -> allocator.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
            case 2 -> allocator.heapBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
            case 3 -> Unpooled.wrappedBuffer(bytes);
            case 4 -> Unpooled.wrappedBuffer(direct(bytes));
            case 5 -> Unpooled.wrappedBuffer(direct(bytes).asReadOnlyBuffer());
            case 6 -> partOf(bytes, random.nextBoolean()
                    ? allocator.directBuffer(bytes.length + 64) : allocator.heapBuffer(bytes.length + 64));
            case 7 -> of(bytes, depth + 1).asReadOnly();
            case 8 -> duplicateOf(of(bytes, depth + 1));
            case 9 -> sliceOf(of(bytes, depth + 1));
            default -> composite(bytes, depth + 1);
        };
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    /** With bytes before and after them that must not be sent. */
    private ByteBuf partOf(byte[] bytes, ByteBuf buffer) {
        int before = random.nextInt(32);
        buffer.writeZero(before).writeBytes(bytes).writeZero(random.nextInt(32));
        return buffer.setIndex(before, before + bytes.length);
    }

    private static ByteBuf duplicateOf(ByteBuf buffer) {
        ByteBuf duplicate = buffer.retainedDuplicate();
        buffer.release();
        return duplicate;
    }

    private static ByteBuf sliceOf(ByteBuf buffer) {
        ByteBuf slice = buffer.retainedSlice();
        buffer.release();
        return slice;
    }

    private ByteBuf composite(byte[] bytes, int depth) {
        CompositeByteBuf composite = random.nextBoolean()
                ? allocator.compositeDirectBuffer(64) : allocator.compositeHeapBuffer(64);
        int parts = 1 + random.nextInt(6);
        int from = 0;
        for (int i = 1; i <= parts; i++) {
            int to = i == parts ? bytes.length : from + random.nextInt(bytes.length - from + 1);
            ByteBuf part = of(Arrays.copyOfRange(bytes, from, to), depth);
            composite.addComponent(true, part);
            if (random.nextInt(4) == 0) {
                // The composite has its own indices: who still reads from the part changes nothing.
                part.skipBytes(random.nextInt(part.readableBytes() + 1));
            }
            from = to;
        }
        if (random.nextInt(4) == 0 && bytes.length > 0) {
            // Readable from somewhere inside a component.
            composite.addComponent(false, 0, Unpooled.wrappedBuffer(new byte[5]));
            composite.setIndex(5, 5 + bytes.length);
        }
        return composite;
    }
}
