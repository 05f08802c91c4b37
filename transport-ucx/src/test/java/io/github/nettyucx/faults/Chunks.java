// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.netty.buffer.ByteBuf;

import java.lang.reflect.Field;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;

/** Which of a pool's chunks the buffers lie in that somebody has under way. For one thread. */
final class Chunks {

    private static final Class<?> POOLED;
    private static final Field CHUNK;

    static {
        try {
            POOLED = Class.forName("io.netty.buffer.PooledByteBuf");
            CHUNK = POOLED.getDeclaredField("chunk");
            CHUNK.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Map<Object, Integer> counts = new IdentityHashMap<>();

    /** @return its chunk, for {@link #remove} */
    Object add(ByteBuf buffer) {
        Object chunk = of(buffer);
        counts.merge(chunk, 1, Integer::sum);
        return chunk;
    }

    void remove(Object chunk) {
        counts.computeIfPresent(chunk, (_, count) -> count == 1 ? null : count - 1);
    }

    boolean shares(Chunks other) {
        return !Collections.disjoint(counts.keySet(), other.counts.keySet());
    }

    /** The memory that the pool has got in one piece; a buffer that is not of a pool is its own. */
    private static Object of(ByteBuf buffer) {
        ByteBuf inner = buffer;
        while (!POOLED.isInstance(inner)) {
            if (inner.unwrap() == null) {
                return inner;
            }
            inner = inner.unwrap();
        }
        try {
            return CHUNK.get(inner);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
