// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.util.SplittableRandom;

/** Two processes' sides of one-sided memory in this one, for each test anew, and bytes by a seed that is printed. */
abstract class OneSidedFixture {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);

    final SplittableRandom random = new SplittableRandom(SEED);
    LeakWatch leaks;
    MemoryPair pair;

    @BeforeEach
    void connect() throws Exception {
        leaks = new LeakWatch();
        System.out.println("seed " + SEED);
        pair = new MemoryPair();
    }

    @AfterEach
    void closeAll() {
        pair.close();
        leaks.assertNothingLeft();
    }

    final byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    final ByteBuf direct(byte[] bytes) {
        return leaks.allocator.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
    }
}
