// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("ucx-matrix")
class UcpRmaTest {

    private static final int[] SIZES = {8, 5000, 3_000_000};
    private static final int FENCED = 1 << 20;

    @ParameterizedTest
    @EnumSource
    void whatIsPutIsInThePeersMemoryAfterAFlush(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.RMA); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            for (int size : SIZES) {
                MemorySegment sent = Bytes.random(arena, size);
                MemorySegment target = arena.allocate(size, 64);
                try (UcpMemory memory = pair.context.map(target);
                        UcpRemoteKey key = pair.client.unpackRemoteKey(memory.packRemoteKey())) {
                    assertEquals(target.address(), memory.segment().address());
                    pair.loop.complete("putting", UcpRma.putNbx(pair.client.address(), sent.address(), size,
                            target.address(), key.address(), param));
                    pair.loop.complete("flushing", pair.client.flushNbx(param));
                    assertArrayEquals(Bytes.of(sent, size), Bytes.of(target, size));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void thePeersMemoryIsRead(Lanes lanes) throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(lanes, UcpFeature.RMA); Arena arena = Arena.ofConfined()) {
            long param = UcpRequestParam.allocate(arena);
            for (int size : SIZES) {
                MemorySegment source = Bytes.random(arena, size);
                MemorySegment received = arena.allocate(size, 64);
                try (UcpMemory memory = pair.context.map(source);
                        UcpMemory local = pair.context.map(received);
                        UcpRemoteKey key = pair.client.unpackRemoteKey(memory.packRemoteKey())) {
                    long registered = UcpRequestParam.allocate(arena);
                    UcpRequestParam.setMemoryHandle(registered, local.address());
                    UcpRequestParam.setHostMemory(registered);
                    pair.loop.complete("getting", UcpRma.getNbx(pair.client.address(), received.address(), size,
                            source.address(), key.address(), registered));
                    assertArrayEquals(Bytes.of(source, size), Bytes.of(received, size));
                }
            }
        }
    }

    /** The first put is under way when the second is made. The peer has a thread of its own: a fence may wait for it. */
    @ParameterizedTest
    @EnumSource
    void whatIsPutBehindAFenceComesLast(Lanes lanes) throws Exception {
        try (WorkerPair pair = new WorkerPair(lanes, UcpFeature.RMA); Arena arena = Arena.ofConfined()) {
            UcpEndpoint endpoint = pair.endpoint;
            long param = UcpRequestParam.allocate(arena);
            MemorySegment first = Bytes.random(arena, FENCED);
            MemorySegment second = Bytes.random(arena, FENCED);
            MemorySegment target = arena.allocate(FENCED, 64);
            try (UcpMemory memory = pair.context.map(target);
                    UcpRemoteKey key = endpoint.unpackRemoteKey(memory.packRemoteKey());
                    Progressing progressing = new Progressing(pair.peerWorker)) {
                Loop loop = new Loop(pair.worker);
                long one = UcpRma.putNbx(
                        endpoint.address(), first.address(), FENCED, target.address(), key.address(), param);
                pair.worker.fence();
                long other = UcpRma.putNbx(
                        endpoint.address(), second.address(), FENCED, target.address(), key.address(), param);
                loop.complete("putting", one);
                loop.complete("putting behind the fence", other);
                loop.complete("flushing", endpoint.flushNbx(param));
            }
            assertArrayEquals(Bytes.of(second, FENCED), Bytes.of(target, FENCED));
        }
    }

    /** A thread that progresses a worker until this is closed. */
    private static final class Progressing implements AutoCloseable {
        private final AtomicBoolean ended = new AtomicBoolean();
        private final Thread thread;

        Progressing(UcpWorker worker) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                while (!ended.get()) {
                    worker.progress();
                    Thread.yield();
                }
            });
        }

        @Override
        public void close() throws InterruptedException {
            ended.set(true);
            thread.join();
        }
    }

    @Test
    void allocatedSharedMemoryCanBeAccessedDirectly() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.SHARED_MEMORY, UcpFeature.RMA);
                UcpMemory memory = pair.context.allocate(4096);
                UcpRemoteKey key = pair.client.unpackRemoteKey(memory.packRemoteKey())) {
            assertEquals(4096, memory.segment().byteSize());
            memory.segment().set(ValueLayout.JAVA_LONG, 64, 4711);
            long pointer = key.localPointer(memory.segment().address() + 64);
            assertEquals(4711, NativeMemory.getLong(pointer));
        }
    }

    @Test
    void memoryThatOnlyThePeerCanReachHasNoDirectPointer() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.RMA);
                Arena arena = Arena.ofConfined();
                UcpMemory memory = pair.context.map(arena.allocate(64));
                UcpRemoteKey key = pair.client.unpackRemoteKey(memory.packRemoteKey())) {
            UcxException e = assertThrows(UcxException.class, () -> key.localPointer(memory.segment().address()));
            assertEquals(UcsStatus.ERR_UNREACHABLE, e.status());
        }
    }

    @Test
    void memoryAndKeysCanBeClosedTwiceButNotUsedAfterwards() throws UcxException {
        try (ConnectedPair pair = new ConnectedPair(Lanes.TCP, UcpFeature.RMA)) {
            UcpMemory memory = pair.context.allocate(64);
            UcpRemoteKey key = pair.client.unpackRemoteKey(memory.packRemoteKey());
            key.close();
            key.close();
            memory.close();
            memory.close();
            assertThrows(IllegalStateException.class, key::address);
            assertThrows(IllegalStateException.class, memory::address);
            assertThrows(IllegalStateException.class, memory::packRemoteKey);
        }
    }

    @Test
    void onlyNativeMemoryOfSomeLengthCanBeMapped() throws UcxException {
        try (UcpContext context = Lanes.TCP.context(UcpFeature.RMA)) {
            assertThrows(IllegalArgumentException.class, () -> context.map(MemorySegment.ofArray(new byte[8])));
            assertThrows(IllegalArgumentException.class, () -> context.map(MemorySegment.NULL));
            assertThrows(IllegalArgumentException.class, () -> context.allocate(0));
        }
    }
}
