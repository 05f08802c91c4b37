// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;

/**
 * What is written on one lane is read on the other: some seeds that are always tried, and some new ones.
 * <p>
 * {@code -Dio.github.nettyucx.test.seeds=10000} tries more of them, and {@code -Dio.github.nettyucx.test.seed=N} a single
 * one.
 */
class SocketTransferTest {

    private static final int SEEDS = Integer.getInteger("io.github.nettyucx.test.seeds", 100);
    private static final Long SEED = Long.getLong("io.github.nettyucx.test.seed");

    @TempDir
    Path directory;

    @Test
    @Timeout(300)
    void bytesArriveAsTheyWereWritten() throws IOException {
        Path file = Files.write(directory.resolve("file"), Raw.bytes(300_000, 42));
        long fresh = System.nanoTime() & 0xfff_ffff;
        LongStream seeds = SEED != null ? LongStream.of(SEED)
                : LongStream.concat(LongStream.range(0, SEEDS / 2), LongStream.range(fresh, fresh + SEEDS / 2));
        seeds.forEach(seed -> {
            try {
                new SeededTransfer(seed, file).run();
            } catch (Throwable t) {
                throw new AssertionError("failed with -Dio.github.nettyucx.test.seed=" + seed + ": " + t, t);
            }
        });
    }
}
