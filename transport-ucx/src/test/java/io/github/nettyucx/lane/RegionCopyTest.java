// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.worker.Counters;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.github.nettyucx.worker.WorkerCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a region of the application's does to the buffer that it writes into. */
class RegionCopyTest {

    private static final int LENGTH = 100;

    private final SendBufferPool pool = new SendBufferPool(new Counters<>(WorkerCounter.class));
    private final RegionCopy copy = new RegionCopy(pool);

    /** Closes its channel in the middle, which discards the copy. */
    private final class Closing extends ArrayRegion {

        private final boolean writesBefore;

        Closing(boolean writesBefore) {
            super(new byte[LENGTH], LENGTH);
            this.writesBefore = writesBefore;
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            if (writesBefore) {
                target.write(ByteBuffer.allocate(1));
            }
            copy.discard();
            return target.write(ByteBuffer.allocate(LENGTH));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsWrittenAfterADiscardIsNobodys(boolean writesBefore) throws IOException {
        assertFalse(copy.fill(new Closing(writesBefore), SendBufferPool.CAPACITY));
        assertTrue(copy.isEmpty());
        SendBuffer next = pool.acquire();
        assertEquals(0, next.memory().readableBytes(), "bytes of somebody else's");
        next.release();
    }

    @Test
    void whatIsWrittenIsThereAndTheBufferComesBack() throws IOException {
        SendBuffer first = pool.acquire();
        first.release();
        assertTrue(copy.fill(new ArrayRegion(new byte[LENGTH], LENGTH), SendBufferPool.CAPACITY));
        assertEquals(LENGTH, copy.left());
        copy.took(LENGTH);
        assertTrue(copy.isEmpty());
        SendBuffer again = pool.acquire();
        assertSame(first, again);
        assertEquals(0, again.memory().readableBytes());
        again.release();
    }
}
