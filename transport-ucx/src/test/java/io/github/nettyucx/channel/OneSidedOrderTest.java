// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.channel.MemoryPair.Kind;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static io.github.nettyucx.channel.MemoryPair.ALL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** In which order puts, notifications, gets, atomic operations and the bytes of the stream are seen. */
class OneSidedOrderTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    private static final int SLOT = 100_000;
    private static final int SLOTS = 16;
    private static final int TIMES = 300;
    /** Goes by rendezvous. */
    private static final int LARGE = 2 << 20;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private LeakWatch leaks;
    private MemoryPair pair;

    @BeforeEach
    void connect() throws Exception {
        System.out.println("seed " + SEED);
        leaks = new LeakWatch();
        pair = new MemoryPair();
    }

    @AfterEach
    void closeAll() {
        pair.close();
        leaks.assertNothingLeft();
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    private ByteBuf filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return leaks.allocator.directBuffer(Math.max(1, length)).writeBytes(bytes);
    }

    private void expectFilled(UcxMemory memory, long offset, long length, int value, String what) {
        byte[] expected = new byte[(int) length];
        Arrays.fill(expected, (byte) value);
        long mismatch = memory.segment().asSlice(offset, length).mismatch(MemorySegment.ofArray(expected));
        if (mismatch >= 0) {
            wrong.add(what + ": byte " + mismatch + " of " + length + " is "
                    + memory.segment().get(ValueLayout.JAVA_BYTE, offset + mismatch) + ", not " + (byte) value);
        }
    }

    private void awaitCount(AtomicLong counter, long least) throws Exception {
        Eventually.await(TimeUnit.SECONDS.toMillis(MemoryPair.SECONDS), () -> "only " + counter + " of " + least,
                () -> counter.get() >= least);
    }

    @OnEachLane(linksOnly = true)
    void aNotificationIsToldAfterItsBytesAndAfterTheOnesBeforeIt() throws Exception {
        for (Kind kind : Kind.values()) {
            AtomicLong told = new AtomicLong();
            try (UcxMemory memory = kind.allocate(2 * SLOT * SLOTS, ALL)) {
                pair.owner.onNotification = notification -> {
                    long number = notification.value();
                    if (number != told.get() || notification.memory() != memory) {
                        wrong.add(notification + " after " + told);
                    }
                    String what = kind + ", notification " + number;
                    expectFilled(memory, notification.offset(), notification.length(), (int) number, what);
                    // And the one without a notification that was put before it.
                    expectFilled(memory, notification.offset() + SLOT, SLOT, (int) number, what + ", before it");
                    told.incrementAndGet();
                };
                UcxRemoteMemory remote = pair.open(memory);
                for (int i = 0; i < TIMES; i++) {
                    awaitCount(told, i - SLOTS + 1);
                    long offset = 2L * SLOT * (i % SLOTS);
                    int length = random.nextInt(4) == 0 ? random.nextInt(SLOT + 1) : random.nextInt(400);
                    ByteBuf before = filled(SLOT, i);
                    ByteBuf notified = filled(length, i);
                    int number = i;
                    pair.channel.eventLoop().execute(() -> {
                        remote.put(offset + SLOT, before, null, 0);
                        remote.putAndNotify(offset, notified, number, null, 0);
                    });
                }
                awaitCount(told, TIMES);
                Peers.await(remote.flush());
            }
        }
    }

    @OnEachLane(linksOnly = true)
    void aNotificationTellsAllOf64Bits() throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(64, ALL)) {
            UcxRemoteMemory remote = pair.open(memory);
            for (long value : new long[] {0, -1, Long.MIN_VALUE, 0x0123_4567_89ab_cdefL}) {
                Peers.await(remote.putAndNotify(8, Unpooled.copyLong(value), value));
                assertEquals(new UcxMemoryNotification(memory, value, 8, 8), pair.owner.awaitNotification());
                Peers.await(remote.putAndNotify(64, Unpooled.EMPTY_BUFFER, value));
                assertEquals(new UcxMemoryNotification(memory, value, 64, 0), pair.owner.awaitNotification());
            }
        }
    }

    @OnEachLane(linksOnly = true)
    void getsAndAtomicOperationsSeeThePutsBeforeThem() throws Exception {
        for (Kind kind : Kind.values()) {
            try (UcxMemory memory = kind.allocate(SLOT, ALL)) {
                UcxRemoteMemory remote = pair.open(memory);
                for (int i = 1; i < TIMES; i++) {
                    int number = i;
                    ByteBuf source = filled(SLOT, i);
                    ByteBuf target = leaks.allocator.directBuffer(SLOT, SLOT);
                    long fillings = (i & 0xffL) * 0x0101_0101_0101_0101L;
                    pair.channel.eventLoop().submit(() -> {
                        remote.put(0, source, null, 0);
                        remote.get(0, target, 0, SLOT, (id, value, cause) -> {
                            // Where the memory is not attached it may see what is begun behind it, in the last 8 bytes.
                            int last = remote.isDirect() ? SLOT - 1 : SLOT - 9;
                            if (cause != null || target.getByte(last) != (byte) number) {
                                wrong.add(kind + ": get " + number + ": " + cause);
                            }
                        }, 0);
                        remote.fetchAndAdd(SLOT - 8, 1, (id, value, cause) -> {
                            if (value != fillings) {
                                wrong.add(kind + ": value " + number + " is " + Long.toHexString(value));
                            }
                        }, 0);
                        remote.put(SLOT - 8, Unpooled.copyLong(5), null, 0);
                        remote.compareAndSwap(SLOT - 8, Long.reverseBytes(5), 6, (id, value, cause) -> {
                            if (value != Long.reverseBytes(5)) {
                                wrong.add(kind + ": swap " + number + " of " + Long.toHexString(value));
                            }
                        }, 0);
                    }).sync();
                    Peers.await(remote.flush());
                    target.release();
                    assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
                }
            }
        }
    }

    /** UCX fetches the bytes of the first one when its message is there, and the second one's come with theirs. */
    @OnEachLane(linksOnly = true)
    void twoPutsWithAnAtomicOperationBetweenThemAreInOrder() throws Exception {
        for (Kind kind : Kind.values()) {
            try (UcxMemory memory = kind.allocate(LARGE, ALL)) {
                UcxRemoteMemory remote = pair.open(memory);
                for (int i = 1; i < 100; i++) {
                    int number = i;
                    ByteBuf first = filled(LARGE, i);
                    ByteBuf second = filled(SLOT, i + 1);
                    long fillings = (i & 0xffL) * 0x0101_0101_0101_0101L;
                    pair.channel.eventLoop().submit(() -> {
                        remote.put(0, first, null, 0);
                        remote.fetchAndAdd(0, 1, (id, value, cause) -> {
                            if (value != fillings) {
                                wrong.add(kind + ": value " + number + " is " + Long.toHexString(value));
                            }
                        }, 0);
                        remote.put(0, second, null, 0);
                    }).sync();
                    Peers.await(remote.flush());
                    expectFilled(memory, 0, SLOT, i + 1, kind + ", second put " + i);
                    expectFilled(memory, SLOT, LARGE - SLOT, i, kind + ", first put " + i);
                    assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
                }
            }
        }
    }

    @OnEachLane(linksOnly = true)
    void bytesOfTheStreamThatAreWrittenWhenAPutIsDoneAreReadAfterItsBytesAreThere() throws Exception {
        for (Kind kind : Kind.values()) {
            AtomicLong read = new AtomicLong();
            try (UcxMemory memory = kind.allocate(SLOT * SLOTS, ALL)) {
                pair.owner.onRead = buffer -> {
                    for (int i = 0; i < buffer.readableBytes(); i++) {
                        long number = read.get();
                        expectFilled(memory, SLOT * (number % SLOTS), SLOT, (int) number, kind + ", byte " + number);
                        // Only now the slot may be filled again.
                        read.set(number + 1);
                    }
                };
                UcxRemoteMemory remote = pair.open(memory);
                for (int i = 0; i < TIMES; i++) {
                    awaitCount(read, i - SLOTS + 1);
                    int number = i;
                    remote.put(SLOT * (i % SLOTS), filled(SLOT, i)).addListener(put -> pair.channel.writeAndFlush(
                            leaks.allocator.directBuffer(1).writeByte(number)));
                }
                awaitCount(read, TIMES);
                pair.owner.onRead = buffer -> { };
            }
        }
    }
}
