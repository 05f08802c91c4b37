// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.IoVector;
import io.github.nettyucx.worker.SendBufferPool;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultFileRegion;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** What one system call is given to send. */
class SocketGatheringTest {

    private static final int LARGE = SocketGathering.ENTRY_MIN;
    private static final int PLENTY = 1024 * 1024;

    private LanePair pair;
    private LaneEnd end;
    private SocketGathering gathering;
    private IoVector vector;
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private int seed;

    @BeforeEach
    void connect() throws IOException {
        pair = new LanePair();
        end = pair.farLane();
        gathering = new SocketGathering(pair.engine.sendBuffers());
        vector = new IoVector(8);
    }

    @AfterEach
    void disconnect() throws IOException {
        gathering.clear();
        vector.close();
        pair.close();
    }

    private byte[] next(int length) {
        byte[] bytes = Raw.bytes(length, seed++);
        expected.writeBytes(bytes);
        return bytes;
    }

    private ByteBuf direct(int length) {
        return Unpooled.directBuffer(Math.max(1, length)).writeBytes(next(length));
    }

    private ByteBuf heap(int length) {
        return Unpooled.buffer(Math.max(1, length)).writeBytes(next(length));
    }

    private CompositeByteBuf composite(ByteBuf... components) {
        return Unpooled.compositeBuffer().addComponents(true, components);
    }

    private void gather(int room) throws Exception {
        gathering.gather(end.out, vector, room);
    }

    /** What the kernel would see, entry by entry. */
    private List<Integer> entries() {
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        List<Integer> lengths = new ArrayList<>();
        if (gathering.count() == 1) {
            lengths.add(gathering.length());
            seen.writeBytes(at(gathering.address(), gathering.length()));
        } else {
            MemorySegment all = MemorySegment.ofAddress(vector.address()).reinterpret(16L * vector.capacity());
            for (int i = 0; i < gathering.count(); i++) {
                int length = (int) all.get(ValueLayout.JAVA_LONG, 16L * i + 8);
                lengths.add(length);
                seen.writeBytes(at(all.get(ValueLayout.JAVA_LONG, 16L * i), length));
            }
        }
        assertEquals(gathering.length(), seen.size());
        assertArrayEquals(Arrays.copyOf(expected.toByteArray(), seen.size()), seen.toByteArray());
        return lengths;
    }

    private static byte[] at(long address, int length) {
        return MemorySegment.ofAddress(address).reinterpret(length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void aLoneMessageIsSentFromWhereItLies() throws Exception {
        for (int length : new int[] {1, LARGE - 1, LARGE, 10 * LARGE}) {
            ByteBuf message = direct(length);
            end.add(message);
            gather(PLENTY);
            assertEquals(1, gathering.count());
            assertEquals(length, gathering.length());
            assertEquals(message.memoryAddress(), gathering.address());
            assertEquals(0, gathering.copied());
            end.out.remove();
            gathering.clear();
        }
    }

    @Test
    void whatHasBeenSentBeforeIsLeftOut() throws Exception {
        ByteBuf message = direct(100).skipBytes(40);
        end.add(message);
        gather(PLENTY);
        assertEquals(60, gathering.length());
        assertEquals(message.memoryAddress() + 40, gathering.address());
    }

    @Test
    void smallMessagesAreCopiedTogether() throws Exception {
        for (int length : new int[] {10, 0, 200, LARGE - 1}) {
            end.add(direct(length));
        }
        end.add(heap(300));
        gather(PLENTY);
        assertEquals(List.of(LARGE + 509), entries());
        assertEquals(4, gathering.copied());
    }

    @Test
    void largeMessagesStayBetweenRunsOfSmallOnes() throws Exception {
        end.add(direct(10));
        end.add(direct(20));
        end.add(direct(LARGE));
        end.add(heap(5));
        end.add(direct(6));
        end.add(direct(2 * LARGE));
        end.add(direct(3 * LARGE));
        gather(PLENTY);
        assertEquals(List.of(30, LARGE, 11, 2 * LARGE, 3 * LARGE), entries());
        assertEquals(4, gathering.copied());
    }

    @Test
    void aSmallMessageBetweenLargeOnesIsNotCopied() throws Exception {
        end.add(direct(LARGE));
        end.add(direct(7));
        end.add(direct(LARGE));
        gather(PLENTY);
        assertEquals(List.of(LARGE, 7, LARGE), entries());
        assertEquals(0, gathering.copied());
    }

    @Test
    void aLargeHeapBufferIsCopiedAsFarAsThereIsRoom() throws Exception {
        end.add(heap(SendBufferPool.CAPACITY + 1));
        end.add(direct(LARGE));
        gather(PLENTY);
        assertEquals(List.of(SendBufferPool.CAPACITY), entries());
    }

    @Test
    void runsShareOneBuffer() throws Exception {
        end.add(heap(SendBufferPool.CAPACITY - 10));
        end.add(direct(LARGE));
        end.add(heap(20));
        end.add(direct(LARGE));
        gather(PLENTY);
        assertEquals(List.of(SendBufferPool.CAPACITY - 10, LARGE, 10), entries());
    }

    @Test
    void aSmallMessageThatHasNoRoomAmongTheCopiesStaysWhereItIs() throws Exception {
        end.add(heap(SendBufferPool.CAPACITY - 10));
        end.add(direct(LARGE));
        end.add(direct(20));
        end.add(direct(20));
        gather(PLENTY);
        assertEquals(List.of(SendBufferPool.CAPACITY - 10, LARGE, 20), entries());
    }

    @Test
    void componentsOfACompositeAreEntries() throws Exception {
        CompositeByteBuf composite = composite(direct(10), direct(LARGE), heap(11), heap(12), direct(2 * LARGE));
        composite.skipBytes(4);
        expected.reset();
        byte[] rest = new byte[composite.readableBytes()];
        composite.getBytes(4, rest);
        expected.writeBytes(rest);
        end.add(composite);
        end.add(direct(LARGE));
        gather(PLENTY);
        assertEquals(List.of(6, LARGE, 23, 2 * LARGE, LARGE), entries());
    }

    /** What the application hands on it may still read from, as from a message's body. */
    @Test
    void theIndicesOfAComponentAreTheApplications() throws Exception {
        for (int moved = 0; moved < 3; moved++) {
            expected.reset();
            ByteBuf[] components = {direct(LARGE), direct(LARGE), direct(LARGE)};
            CompositeByteBuf composite = composite(components);
            assertSame(components[moved], composite.internalComponent(moved), "the composite has made a slice");
            components[moved].skipBytes(100);
            end.add(composite);
            end.add(direct(LARGE));
            gather(PLENTY);
            assertEquals(List.of(LARGE, LARGE, LARGE, LARGE), entries());
            gathering.clear();
            end.out.remove();
            end.out.remove();
        }
    }

    @Test
    void norDoesItMatterThatAComponentHasGrown() throws Exception {
        ByteBuf grown = direct(LARGE);
        CompositeByteBuf composite = composite(grown, direct(LARGE));
        grown.writeZero(3 * LARGE);
        end.add(composite);
        gather(PLENTY);
        assertEquals(List.of(LARGE, LARGE), entries());
    }

    @Test
    void ofAComponentThatHasBeenMadeSmallerNothingIsReadBehindItsEnd() throws Exception {
        ByteBuf smaller = direct(LARGE);
        CompositeByteBuf composite = composite(direct(LARGE), smaller);
        smaller.capacity(LARGE / 2);
        end.add(composite);
        assertThrows(IndexOutOfBoundsException.class, () -> gather(PLENTY));
    }

    @Test
    void ofACompositeThatHasDiscardedBytesTheRestIsSent() throws Exception {
        CompositeByteBuf composite = composite(direct(LARGE), direct(2 * LARGE), direct(LARGE).slice());
        composite.skipBytes(LARGE + 10).discardReadBytes();
        byte[] all = expected.toByteArray();
        expected.reset();
        expected.write(all, LARGE + 10, all.length - LARGE - 10);
        end.add(composite);
        gather(PLENTY);
        assertEquals(List.of(2 * LARGE - 10, LARGE), entries());
    }

    @Test
    void aCompositeInACompositeIsCopied() throws Exception {
        end.add(composite(direct(LARGE), composite(direct(LARGE), heap(1000))));
        gather(PLENTY);
        assertEquals(List.of(LARGE, LARGE + 1000), entries());
    }

    @Test
    void aSmallCompositeIsCopied() throws Exception {
        end.add(composite(direct(10), heap(20)));
        end.add(direct(30));
        gather(PLENTY);
        assertEquals(List.of(60), entries());
    }

    @Test
    void noMoreThanTheShareIsLaidOut() throws Exception {
        end.add(direct(10));
        end.add(direct(10));
        end.add(direct(LARGE));
        end.add(direct(LARGE));
        gather(15);
        assertEquals(List.of(15), entries());
        gathering.clear();
        gather(20);
        assertEquals(List.of(20), entries());
        gathering.clear();
        gather(20 + LARGE);
        assertEquals(List.of(20, LARGE), entries());
        gathering.clear();
        gather(20 + LARGE + LARGE - 1);
        assertEquals(List.of(20, LARGE, LARGE - 1), entries());
    }

    @Test
    void noMoreEntriesThanTheVectorHolds() throws Exception {
        for (int i = 0; i < 10; i++) {
            end.add(direct(LARGE));
        }
        gather(PLENTY);
        assertEquals(8, gathering.count());
        assertEquals(8, entries().size());
    }

    @Test
    void aRunThatHasNoEntryEndsIt() throws Exception {
        for (int i = 0; i < 8; i++) {
            end.add(direct(LARGE));
        }
        end.add(heap(10));
        gather(PLENTY);
        assertEquals(8, entries().size());
    }

    @Test
    void aFileEndsIt() throws Exception {
        end.add(direct(10));
        end.add(new DefaultFileRegion(new File("/proc/self/exe"), 0, 1));
        end.add(Unpooled.directBuffer().writeZero(10));
        gather(PLENTY);
        assertEquals(List.of(10), entries());
    }

    @Test
    void nothingButEmptyBuffersIsNothing() throws Exception {
        end.add(Unpooled.EMPTY_BUFFER);
        end.add(direct(0));
        gather(PLENTY);
        assertEquals(0, gathering.length());
        assertEquals(0, gathering.count());
    }

    @Test
    void aCancelledMessageIsLeftOut() throws Exception {
        end.add(direct(10));
        ByteBuf cancelled = Unpooled.directBuffer().writeBytes(Raw.bytes(20, 99));
        end.addUnflushed(cancelled).cancel(false);
        end.add(direct(30));
        gather(PLENTY);
        assertEquals(List.of(40), entries());
        assertEquals(0, cancelled.refCnt());
    }

    @Test
    void theBufferForCopiesIsGivenBack() throws Exception {
        ByteBuf first = direct(10);
        end.add(first);
        end.add(direct(20));
        gather(PLENTY);
        long address = gathering.address();
        assertNotEquals(first.memoryAddress(), address);
        gathering.clear();
        gather(PLENTY);
        assertEquals(address, gathering.address());
        ReferenceCountUtil.touch(first);
    }
}
