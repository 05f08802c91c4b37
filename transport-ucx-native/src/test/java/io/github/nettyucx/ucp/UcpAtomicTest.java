// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("ucx-matrix")
class UcpAtomicTest {

    private static final long START = 0x0123_4567_89ab_cdefL;

    @ParameterizedTest
    @EnumSource
    void each64BitOperationChangesThePeersMemoryAndFetchesThePreviousValue(Lanes lanes) throws UcxException {
        try (WorkerPair pair = new WorkerPair(lanes, UcpFeature.RMA, UcpFeature.AMO64);
                Arena arena = Arena.ofConfined();
                UcpMemory memory = pair.context.allocate(64);
                UcpRemoteKey key = pair.endpoint.unpackRemoteKey(memory.packRemoteKey())) {
            MemorySegment target = memory.segment();
            long operand = 0x10f0;
            Object[][] operations = {
                {UcpAtomic.ADD, START + operand}, {UcpAtomic.AND, START & operand}, {UcpAtomic.OR, START | operand},
                {UcpAtomic.XOR, START ^ operand}, {UcpAtomic.SWAP, operand}};
            for (Object[] operation : operations) {
                target.set(ValueLayout.JAVA_LONG, 0, START);
                assertEquals(START, fetch(pair, arena, key, target, (int) operation[0], operand, 0));
                assertEquals(operation[1], target.get(ValueLayout.JAVA_LONG, 0));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void compareAndSwapStoresOnlyIfTheValueIsTheExpectedOne(Lanes lanes) throws UcxException {
        try (WorkerPair pair = new WorkerPair(lanes, UcpFeature.RMA, UcpFeature.AMO64);
                Arena arena = Arena.ofConfined();
                UcpMemory memory = pair.context.allocate(64);
                UcpRemoteKey key = pair.endpoint.unpackRemoteKey(memory.packRemoteKey())) {
            MemorySegment target = memory.segment();
            target.set(ValueLayout.JAVA_LONG, 0, START);
            assertEquals(START, fetch(pair, arena, key, target, UcpAtomic.COMPARE_AND_SWAP, START + 1, 42));
            assertEquals(START, target.get(ValueLayout.JAVA_LONG, 0));
            assertEquals(START, fetch(pair, arena, key, target, UcpAtomic.COMPARE_AND_SWAP, START, 42));
            assertEquals(42, target.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @ParameterizedTest
    @EnumSource
    void posted32BitAdditionsAddUp(Lanes lanes) throws UcxException {
        try (WorkerPair pair = new WorkerPair(lanes, UcpFeature.RMA, UcpFeature.AMO32);
                Arena arena = Arena.ofConfined();
                UcpMemory memory = pair.context.allocate(64);
                UcpRemoteKey key = pair.endpoint.unpackRemoteKey(memory.packRemoteKey())) {
            memory.segment().set(ValueLayout.JAVA_INT, 8, 7);
            long param = UcpRequestParam.allocate(arena);
            UcpRequestParam.setDatatype(param, UcpRequestParam.contiguous(Integer.BYTES));
            MemorySegment operand = arena.allocateFrom(ValueLayout.JAVA_INT, 3);
            for (int i = 0; i < 100; i++) {
                pair.loop.complete("adding", UcpAtomic.operationNbx(pair.endpoint.address(), UcpAtomic.ADD,
                        operand.address(), 1, memory.segment().address() + 8, key.address(), param));
            }
            pair.loop.complete("flushing", pair.worker.flushNbx(UcpRequestParam.allocate(arena)));
            assertEquals(307, memory.segment().get(ValueLayout.JAVA_INT, 8));
        }
    }

    /** Returns the previous value. */
    private static long fetch(WorkerPair pair, Arena arena, UcpRemoteKey key, MemorySegment target, int operation,
            long operand, long swapped) throws UcxException {
        MemorySegment reply = arena.allocateFrom(ValueLayout.JAVA_LONG, swapped);
        long param = UcpRequestParam.allocate(arena);
        UcpRequestParam.setDatatype(param, UcpRequestParam.contiguous(Long.BYTES));
        UcpRequestParam.setReplyBuffer(param, reply.address());
        pair.loop.complete("an atomic operation", UcpAtomic.operationNbx(pair.endpoint.address(), operation,
                arena.allocateFrom(ValueLayout.JAVA_LONG, operand).address(), 1, target.address(), key.address(),
                param));
        return reply.get(ValueLayout.JAVA_LONG, 0);
    }
}
