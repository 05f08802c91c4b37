// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import static io.github.nettyucx.channel.MemoryPair.ALL;
import static io.github.nettyucx.channel.MemoryPair.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** The application's own buffers as memory that a peer reaches: parts of larger ones, and mapped files. */
class OneSidedBufferTest extends OneSidedFixture {

    /** What UCX sends eagerly, and more. */
    private static final int[] LENGTHS = {1, 8, 1000, 150_000};
    private static final int WHOLE = 256 * 1024;
    private static final int BEGIN = 32;
    private static final int LENGTH = 200_000;

    private byte[] get(UcxRemoteMemory remote, int length) throws InterruptedException {
        ByteBuf target = leaks.allocator.directBuffer(length);
        Peers.await(remote.get(0, target, length));
        byte[] got = new byte[length];
        target.readBytes(got);
        target.release();
        return got;
    }

    @OnEachLane(linksOnly = true)
    void aPartOfAPooledBufferIsReachedAndNothingBesideIt() throws Exception {
        byte[] expected = randomBytes(WHOLE);
        ByteBuf whole = direct(expected);
        ByteBuf part = whole.slice(BEGIN - 8, LENGTH + 8).skipBytes(8);
        UcxMemory memory = UcxMemory.of(part, ALL);
        assertEquals(LENGTH, memory.length());
        UcxRemoteMemory remote = pair.open(memory);
        assertEquals(LENGTH, remote.length());
        assertArrayEquals(Arrays.copyOfRange(expected, BEGIN, BEGIN + LENGTH), get(remote, LENGTH));
        for (int length : LENGTHS) {
            for (int offset : new int[] {0, random.nextInt(LENGTH - length + 1), LENGTH - length}) {
                byte[] put = randomBytes(length);
                Peers.await(remote.put(offset, direct(put)));
                System.arraycopy(put, 0, expected, BEGIN + offset, length);
            }
            assertRefused(Reason.OUT_OF_RANGE, remote.put(LENGTH - length + 1, direct(randomBytes(length))));
            assertRefused(Reason.OUT_OF_RANGE, remote.put(-1, direct(randomBytes(length))));
        }
        ByteBuffer words = ByteBuffer.wrap(expected).order(ByteOrder.nativeOrder());
        for (int offset : new int[] {0, LENGTH - 8}) {
            long before = words.getLong(BEGIN + offset);
            assertEquals(before, Peers.await(remote.fetchAndAdd(offset, 5)).getNow());
            words.putLong(BEGIN + offset, before + 5);
        }
        assertArrayEquals(Arrays.copyOfRange(expected, BEGIN, BEGIN + LENGTH), get(remote, LENGTH));
        byte[] all = new byte[WHOLE];
        whole.getBytes(0, all);
        assertArrayEquals(expected, all);
        // The application needs it no more, and the peer does.
        whole.release();
        assertEquals(1, whole.refCnt());
        Peers.await(remote.put(0, direct(randomBytes(LENGTH))));
        memory.revoke().get(MemoryPair.SECONDS, TimeUnit.SECONDS);
        assertEquals(0, whole.refCnt());
        assertRefused(Reason.REVOKED, remote.put(0, direct(randomBytes(1))));
    }

    @OnEachLane(linksOnly = true)
    void aMappedFileHasWhatAPeerPutsThere() throws Exception {
        Path path = Files.createTempFile("netty-ucx-", ".test");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            byte[] expected = new byte[LENGTH];
            try (UcxMemory memory = UcxMemory.of(Unpooled.wrappedBuffer(file.map(MapMode.READ_WRITE, 0, LENGTH)), ALL)) {
                UcxRemoteMemory remote = pair.open(memory);
                for (int length : LENGTHS) {
                    byte[] put = randomBytes(length);
                    int offset = random.nextInt(LENGTH - length + 1);
                    Peers.await(remote.put(offset, direct(put)));
                    System.arraycopy(put, 0, expected, offset, length);
                    assertArrayEquals(expected, Files.readAllBytes(path), () -> length + " bytes");
                }
                ByteBuffer words = ByteBuffer.wrap(expected).order(ByteOrder.nativeOrder());
                assertEquals(words.getLong(8), Peers.await(remote.fetchAndAdd(8, 5)).getNow());
                words.putLong(8, words.getLong(8) + 5);
                assertArrayEquals(expected, get(remote, LENGTH));
            }
            assertArrayEquals(expected, Files.readAllBytes(path));
            try (UcxMemory memory = UcxMemory.of(Unpooled.wrappedBuffer(file.map(MapMode.READ_ONLY, 0, LENGTH)),
                    UcxMemoryRight.READ)) {
                UcxRemoteMemory remote = pair.open(memory);
                assertArrayEquals(expected, get(remote, LENGTH));
                assertRefused(Reason.NO_RIGHT, remote.put(0, direct(randomBytes(8))));
                assertRefused(Reason.NO_RIGHT, remote.fetchAndAdd(0, 1));
            }
            assertArrayEquals(expected, Files.readAllBytes(path));
        } finally {
            Files.delete(path);
        }
    }
}
