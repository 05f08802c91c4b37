// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Small pieces are copied by words, others by Netty: the bytes are the same, and none beside them is touched. */
class SendBufferTest {

    /** Beyond the size up to which words are copied. */
    private static final int LONGEST = 80;
    private static final byte UNTOUCHED = 0x5a;

    private final SplittableRandom random = new SplittableRandom(4711);
    private final SendBufferPool pool = new SendBufferPool(new Counters<>(WorkerCounter.class));

    @Test
    void appendsPiecesOfEachLengthAtEachAlignment() {
        for (boolean direct : new boolean[] {true, false}) {
            for (int length = 1; length <= LONGEST; length++) {
                for (int offset = 0; offset < Long.BYTES; offset++) {
                    appends(direct, length, offset);
                }
            }
        }
        pool.close();
    }

    private void appends(boolean direct, int length, int offset) {
        byte[] bytes = new byte[offset + length + Long.BYTES];
        random.nextBytes(bytes);
        ByteBuf source = direct ? Unpooled.directBuffer(bytes.length) : Unpooled.buffer(bytes.length);
        source.writeBytes(bytes);
        SendBuffer buffer = pool.acquire();
        ByteBuf memory = buffer.memory();
        for (int i = 0; i < 2 * bytes.length; i++) {
            memory.setByte(i, UNTOUCHED);
        }
        buffer.append(source, 0, offset + 1);
        buffer.append(source, offset, length);
        int end = offset + 1 + length;
        assertEquals(end, memory.writerIndex());
        assertEquals(ByteBufUtil.hexDump(bytes, 0, offset + 1) + ByteBufUtil.hexDump(bytes, offset, length),
                ByteBufUtil.hexDump(memory, 0, end));
        assertEquals(UNTOUCHED, memory.getByte(end), "the byte behind");
        buffer.release();
        source.release();
    }
}
