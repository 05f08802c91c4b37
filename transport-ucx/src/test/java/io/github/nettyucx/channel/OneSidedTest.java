// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.channel.MemoryPair.Kind;
import io.github.nettyucx.memory.UcxCompletion;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

import static io.github.nettyucx.channel.MemoryPair.ALL;
import static io.github.nettyucx.channel.MemoryPair.assertRefused;
import static io.github.nettyucx.channel.MemoryPair.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What can be done with a peer's memory, and what cannot. */
class OneSidedTest extends OneSidedFixture {

    private static final int SIZE = 1 << 20;

    private static int[] lengths() {
        // Around what goes into a request, and what UCX sends eagerly.
        return new int[] {0, 1, 8, 215, 216, 217, 4096, 8192, 100_000, SIZE};
    }

    // ------------------------------------------------------------------------------------------- put and get

    @OnEachLane(linksOnly = true)
    void whatIsPutIsInTheOwnersMemoryAndNowhereElse() throws Exception {
        for (Kind kind : Kind.values()) {
            try (UcxMemory memory = kind.allocate(SIZE, ALL)) {
                UcxRemoteMemory remote = pair.open(memory);
                assertEquals(SIZE, remote.length());
                assertEquals(Set.of(ALL), remote.rights());
                assertEquals(kind == Kind.SHARED && Lane.current() == Lane.SHM, remote.isDirect());
                byte[] expected = new byte[SIZE];
                for (int length : lengths()) {
                    for (boolean heap : new boolean[] {false, true}) {
                        byte[] put = randomBytes(length);
                        int offset = random.nextInt(SIZE - length + 1);
                        ByteBuf source = heap ? leaks.allocator.heapBuffer(length + 1).writeBytes(put) : direct(put);
                        Peers.await(remote.put(offset, source));
                        System.arraycopy(put, 0, expected, offset, length);
                        assertArrayEquals(expected, bytes(memory), () -> kind + ", " + length + " bytes");
                    }
                }
            }
        }
    }

    @OnEachLane(linksOnly = true)
    void whatIsGotIsWhatTheOwnerHas() throws Exception {
        for (Kind kind : Kind.values()) {
            try (UcxMemory memory = kind.allocate(SIZE, UcxMemoryRight.READ)) {
                byte[] content = randomBytes(SIZE);
                memory.segment().copyFrom(MemorySegment.ofArray(content));
                UcxRemoteMemory remote = pair.open(memory);
                for (int length : lengths()) {
                    for (boolean heap : new boolean[] {false, true}) {
                        int offset = random.nextInt(SIZE - length + 1);
                        ByteBuf target = heap ? leaks.allocator.heapBuffer() : leaks.allocator.directBuffer();
                        target.writeByte('x');
                        assertEquals(target, Peers.await(remote.get(offset, target, length)).getNow());
                        assertEquals(1 + length, target.readableBytes());
                        target.skipBytes(1);
                        byte[] got = new byte[length];
                        target.readBytes(got);
                        assertArrayEquals(Arrays.copyOfRange(content, offset, offset + length), got);
                        target.release();
                    }
                }
                assertArrayEquals(content, bytes(memory));
            }
        }
    }

    @OnEachLane(linksOnly = true)
    void manyOperationsAtATimeAreDoneAndAFlushIsDoneAfterThem() throws Exception {
        int count = 10_000;
        for (Kind kind : Kind.values()) {
            try (UcxMemory memory = kind.allocate(SIZE, ALL)) {
                UcxRemoteMemory remote = pair.open(memory);
                int[] done = new int[2];
                Peers.await(onLoop(() -> {
                    UcxCompletion completion = (id, value, cause) -> {
                        assertEquals(null, cause);
                        done[0]++;
                    };
                    for (int i = 0; i < count; i++) {
                        ByteBuf source = leaks.allocator.directBuffer(8).writeLong(i);
                        remote.put(i * 8L, source, completion, i);
                    }
                    remote.flush((id, value, cause) -> done[1] = done[0], 0);
                    return null;
                }));
                Peers.await(remote.flush());
                assertEquals(count, done[0]);
                assertEquals(count, done[1], "at the time of the flush");
                ByteBuffer content = ByteBuffer.wrap(bytes(memory));
                for (int i = 0; i < count; i++) {
                    assertEquals(i, content.getLong(i * 8));
                }
            }
        }
    }

    private <T> Future<T> onLoop(Callable<T> task) {
        return pair.channel.eventLoop().submit(task);
    }

    @OnEachLane(linksOnly = true)
    void aBatchIsDoneWhenAllOfItIs() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(SIZE, ALL)) {
            UcxRemoteMemory remote = pair.open(memory);
            byte[] first = randomBytes(100_000);
            byte[] second = randomBytes(100);
            ByteBuf back = leaks.allocator.directBuffer(first.length);
            Peers.await(remote.batch().put(0, direct(first)).putAndNotify(first.length, direct(second), 7)
                    .get(0, back, 0, first.length).submit());
            byte[] content = bytes(memory);
            assertArrayEquals(first, Arrays.copyOf(content, first.length));
            assertArrayEquals(second, Arrays.copyOfRange(content, first.length, first.length + second.length));
            byte[] got = new byte[first.length];
            back.getBytes(0, got);
            assertArrayEquals(first, got);
            back.release();
            assertEquals(7, pair.owner.awaitNotification().value());
            assertRefused(Reason.OUT_OF_RANGE,
                    remote.batch().put(0, direct(second)).put(SIZE, direct(second)).submit());
        }
    }

    // ------------------------------------------------------------------------------------------- bad input

    @OnEachLane(linksOnly = true)
    void whatIsOutOfRangeOrMisalignedIsRefusedAndNothingIsWritten() throws Exception {
        for (Kind kind : Kind.values()) {
            try (UcxMemory memory = kind.allocate(4096, ALL)) {
                UcxRemoteMemory remote = pair.open(memory);
                ByteBuf target = leaks.allocator.directBuffer(8192).writeZero(4);
                for (long[] range : new long[][] {{4096, 1}, {-1, 1}, {4095, 2}, {0, 4097}, {Long.MAX_VALUE, 8},
                    {Long.MIN_VALUE, 8}}) {
                    assertRefused(Reason.OUT_OF_RANGE, remote.put(range[0], direct(randomBytes((int) range[1]))));
                    assertRefused(Reason.OUT_OF_RANGE, remote.putAndNotify(range[0],
                            direct(randomBytes((int) range[1])), 1));
                    assertRefused(Reason.OUT_OF_RANGE, remote.get(range[0], target, (int) range[1]));
                }
                assertRefused(Reason.OUT_OF_RANGE, remote.get(0, target, -1));
                assertRefused(Reason.OUT_OF_RANGE, remote.fetchAndAdd(4096, 1));
                assertRefused(Reason.MISALIGNED, remote.fetchAndAdd(4, 1));
                assertRefused(Reason.MISALIGNED, remote.compareAndSwap(1, 0, 1));
                assertEquals(4, target.readableBytes());
                target.release();
                assertArrayEquals(new byte[4096], bytes(memory));
                assertTrue(pair.owner.notifications.isEmpty());
            }
        }
    }

    @OnEachLane(linksOnly = true)
    void aKeyGivesTheRightsThatItWasExportedWith() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(4096, ALL)) {
            ByteBuf target = leaks.allocator.directBuffer(8);
            for (UcxMemoryRight right : ALL) {
                UcxRemoteMemory remote = pair.open(memory, right);
                assertEquals(Set.of(right), remote.rights());
                if (right == UcxMemoryRight.READ) {
                    Peers.await(remote.get(0, target, 8));
                } else {
                    assertRefused(Reason.NO_RIGHT, remote.get(0, target, 8));
                    assertInstanceOf(ReadOnlyBufferException.class,
                            Peers.awaitFailure(remote.get(0, target.asReadOnly(), 8)));
                }
                if (right == UcxMemoryRight.WRITE) {
                    Peers.await(remote.put(0, direct(new byte[8])));
                } else {
                    assertRefused(Reason.NO_RIGHT, remote.put(0, direct(randomBytes(8))));
                    assertRefused(Reason.NO_RIGHT, remote.putAndNotify(0, direct(randomBytes(8)), 1));
                }
                if (right == UcxMemoryRight.ATOMIC) {
                    Peers.await(remote.fetchAndAdd(0, 0));
                } else {
                    assertRefused(Reason.NO_RIGHT, remote.fetchAndAdd(0, 1));
                    assertRefused(Reason.NO_RIGHT, remote.compareAndSwap(0, 0, 1));
                }
            }
            target.release();
            assertArrayEquals(new byte[4096], bytes(memory));
        }
        try (UcxMemory memory = UcxMemory.allocate(1, UcxMemoryRight.READ)) {
            assertThrows(IllegalArgumentException.class, () -> memory.exportKey(UcxMemoryRight.WRITE));
        }
    }

    @OnEachLane(linksOnly = true)
    void aDamagedForgedOrForeignKeyIsRefused() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(4096, ALL)) {
            byte[] key = memory.exportKey(UcxMemoryRight.READ);
            for (int bit = 0; bit < key.length * 8; bit++) {
                byte[] damaged = key.clone();
                damaged[bit / 8] ^= (byte) (1 << bit % 8);
                assertRefused(Reason.DAMAGED_KEY, pair.channel.openMemory(damaged));
            }
            for (int length : new int[] {0, 1, key.length - 1, key.length + 1}) {
                assertRefused(Reason.DAMAGED_KEY, pair.channel.openMemory(Arrays.copyOf(key, length)));
            }
            // Whoever knows the format can make the checksum right, but not the owner's code.
            for (int changed = 5; changed < 60; changed++) {
                byte[] forged = key.clone();
                forged[changed] ^= 2;
                CRC32C crc = new CRC32C();
                crc.update(forged, 0, 60);
                ByteBuffer.wrap(forged).putInt(60, (int) crc.getValue());
                // Behind that nothing is known of yet.
                assertRefused(changed < 56 ? Reason.UNKNOWN_KEY : Reason.DAMAGED_KEY, pair.channel.openMemory(forged));
            }
            assertTrue(Peers.await(pair.channel.openMemory(key)).isSuccess());
            memory.revoke();
            assertRefused(Reason.UNKNOWN_KEY, pair.channel.openMemory(key));
        }
    }

    @OnEachLane(linksOnly = true)
    void whatHasBeenClosedIsRefused() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(4096, ALL)) {
            UcxRemoteMemory remote = pair.open(memory);
            UcxRemoteMemory other = pair.open(memory);
            remote.close();
            remote.close();
            assertRefused(Reason.CLOSED, remote.put(0, direct(randomBytes(8))));
            assertRefused(Reason.CLOSED, remote.fetchAndAdd(0, 1));
            Peers.await(other.put(0, direct(new byte[8])));
            pair.channel.close().sync();
            assertInstanceOf(IOException.class, Peers.awaitFailure(other.put(0, direct(randomBytes(8)))));
            assertInstanceOf(IOException.class, Peers.awaitFailure(other.flush()));
            assertArrayEquals(new byte[4096], bytes(memory));
        }
    }

    @OnEachLane(linksOnly = true)
    void nothingCanBeOpenedAfterTheLoopsEnd() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(4096, ALL)) {
            pair.close();
            assertInstanceOf(RejectedExecutionException.class,
                    Peers.awaitFailure(pair.channel.openMemory(memory.exportKey())));
        }
    }

    /** The peer is still to be told of the close, and does not listen. */
    @OnEachLane(linksOnly = true)
    void operationsUnderWayFailWithTheClose() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch busy = new CountDownLatch(1);
        try (UcxMemory memory = UcxMemory.allocateChecked(4096, ALL)) {
            UcxRemoteMemory remote = pair.open(memory);
            pair.owner.awaitActive().eventLoop().execute(() -> {
                entered.countDown();
                try {
                    assertTrue(busy.await(MemoryPair.SECONDS, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertTrue(entered.await(MemoryPair.SECONDS, TimeUnit.SECONDS));
            Future<Long> operation = remote.compareAndSwap(0, 1, 2);
            Peers.await(onLoop(() -> null));
            assertFalse(operation.isDone());
            Peers.await(pair.channel.close());
            assertInstanceOf(ClosedChannelException.class, Peers.awaitFailure(operation));
            assertFalse(pair.channel.isOver());
        } finally {
            busy.countDown();
        }
    }

    @OnEachLane(linksOnly = true)
    void aFlushTellsOfFailuresOfWhichNobodyWasTold() throws Exception {
        try (UcxMemory memory = UcxMemory.allocateChecked(4096, ALL)) {
            UcxRemoteMemory remote = pair.open(memory);
            onLoop(() -> {
                remote.put(4096, direct(new byte[1]), null, 0);
                remote.put(0, direct(new byte[1]), null, 0);
                return null;
            }).sync();
            assertRefused(Reason.OUT_OF_RANGE, remote.flush());
            Peers.await(remote.flush());
        }
    }

    @OnEachLane(lanes = Lane.SOCKET)
    void laneSocketSaysThatItHasNoAccessToMemory() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(4096, ALL)) {
            Throwable failure = Peers.awaitFailure(pair.channel.openMemory(memory.exportKey()));
            assertInstanceOf(UnsupportedOperationException.class, failure);
            assertTrue(failure.getMessage().contains("lane socket has no access to the peer's memory"),
                    failure::getMessage);
        }
    }

    // ------------------------------------------------------------------------------------------- atomics

    @OnEachLane(linksOnly = true)
    void atomicOperationsOfTwoPeersAndOfTheOwnerAddUp() throws Exception {
        int count = 2000;
        for (Kind kind : Kind.values()) {
            UcxSocketChannel other = pair.peers.connect(pair.owner.awaitActive().parent(), new Inbox());
            try (UcxMemory memory = kind.allocate(64, ALL)) {
                UcxRemoteMemory one = pair.open(memory);
                UcxRemoteMemory two = MemoryPair.open(other, memory.exportKey());
                List<Future<Long>> fetched = new ArrayList<>();
                var words = ValueLayout.JAVA_LONG.varHandle();
                for (int i = 0; i < count; i++) {
                    fetched.add(one.fetchAndAdd(8, 1));
                    fetched.add(two.fetchAndAdd(8, 1));
                    words.getAndAdd(memory.segment(), 8L, 1L);
                }
                long[] seen = new long[fetched.size()];
                for (int i = 0; i < seen.length; i++) {
                    seen[i] = Peers.await(fetched.get(i)).getNow();
                }
                assertEquals(3L * count, (long) words.getVolatile(memory.segment(), 8L));
                assertEquals(seen.length, Arrays.stream(seen).distinct().count(), "values were fetched twice");
                assertEquals(0, Peers.await(one.compareAndSwap(16, 0, 5)).getNow());
                assertEquals(5, Peers.await(two.compareAndSwap(16, 0, 6)).getNow());
                assertEquals(5, Peers.await(two.compareAndSwap(16, 5, -6)).getNow());
                assertEquals(-6, memory.segment().get(ValueLayout.JAVA_LONG, 16));
            }
            other.close().sync();
        }
    }

    // ------------------------------------------------------------------------------------------- views

    @OnEachLane(linksOnly = true)
    void aViewIsTheMemoryItselfWhereItCanBeAttached() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(4096, ALL)) {
            UcxRemoteMemory remote = pair.open(memory);
            UcxRemoteMemory readable = pair.open(memory, UcxMemoryRight.READ);
            if (!remote.isDirect()) {
                assertTrue(Lane.current().isShared());
                assertInstanceOf(UnsupportedOperationException.class,
                        onLoop(remote::view).await().cause());
                return;
            }
            MemorySegment view = Peers.await(onLoop(remote::view)).getNow();
            MemorySegment reading = Peers.await(onLoop(readable::view)).getNow();
            view.set(ValueLayout.JAVA_LONG, 8, 4711);
            assertEquals(4711, memory.segment().get(ValueLayout.JAVA_LONG, 8));
            assertEquals(4711, reading.get(ValueLayout.JAVA_LONG, 8));
            assertTrue(reading.isReadOnly());
            assertThrows(IndexOutOfBoundsException.class, () -> view.get(ValueLayout.JAVA_BYTE, 4096));
            memory.revoke().get(MemoryPair.SECONDS, TimeUnit.SECONDS);
            assertThrows(IllegalStateException.class, () -> view.get(ValueLayout.JAVA_LONG, 8));
            assertThrows(IllegalStateException.class, () -> reading.get(ValueLayout.JAVA_LONG, 8));
            assertThrows(IllegalStateException.class, () -> memory.segment().get(ValueLayout.JAVA_LONG, 8));
            assertFalse(onLoop(remote::view).await().isSuccess());
        }
    }

    // ------------------------------------------------------------------------------------------- revoking

    @OnEachLane(linksOnly = true)
    void revokingEndsTheAccessAndGivesTheMemoryBackWhenItIsNotUsedAnyMore() throws Exception {
        for (Kind kind : Kind.values()) {
            UcxMemory memory = kind.allocate(SIZE, ALL);
            UcxRemoteMemory remote = pair.open(memory);
            List<Future<Void>> puts = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                puts.add(remote.put(0, direct(randomBytes(50_000))));
            }
            memory.revoke().get(MemoryPair.SECONDS, TimeUnit.SECONDS);
            int done = 0;
            for (Future<Void> put : puts) {
                assertTrue(put.await(MemoryPair.SECONDS, TimeUnit.SECONDS), "a put is not done");
                if (put.isSuccess()) {
                    done++;
                } else {
                    assertRefused(Reason.REVOKED, put);
                }
            }
            System.out.println(kind + ": " + done + " of " + puts.size() + " puts were before the revocation");
            assertRefused(Reason.REVOKED, remote.put(0, direct(randomBytes(8))));
            assertRefused(Reason.REVOKED, remote.fetchAndAdd(0, 1));
            assertThrows(IllegalStateException.class, () -> bytes(memory));
        }
    }

    @OnEachLane(linksOnly = true)
    void aBufferIsReleasedWhenItIsRevoked() throws Exception {
        ByteBuf buffer = Unpooled.directBuffer(64).writeZero(64);
        UcxMemory memory = UcxMemory.of(buffer, ALL);
        assertEquals(2, buffer.refCnt());
        UcxRemoteMemory remote = pair.open(memory);
        Peers.await(remote.put(8, Unpooled.copyLong(42)));
        assertEquals(42, buffer.getLong(8));
        memory.revoke().get(MemoryPair.SECONDS, TimeUnit.SECONDS);
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }
}
