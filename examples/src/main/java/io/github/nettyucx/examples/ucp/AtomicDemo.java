// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.ucp;

import io.github.nettyucx.ucp.UcpAtomic;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpMemory;
import io.github.nettyucx.ucp.UcpRemoteKey;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A counter and a lock in the memory of a peer. UCX does this only on endpoints without error handling. */
public final class AtomicDemo {

    private static final int COUNTER = 0;
    private static final int LOCK = 8;
    private static final long FREE = 0;
    private static final long MINE = 4711;

    private AtomicDemo() {
    }

    public static void main(String[] args) throws UcxException {
        try (Conversation talk = Conversation.overWorkerAddress(UcpFeature.RMA, UcpFeature.AMO64);
                Arena arena = Arena.ofConfined();
                UcpMemory memory = talk.context.allocate(64)) {
            memory.segment().fill((byte) 0);
            try (UcpRemoteKey key = talk.client.unpackRemoteKey(memory.packRemoteKey())) {
                long counter = memory.segment().address() + COUNTER;
                long param = UcpRequestParam.allocate(arena);
                UcpRequestParam.setDatatype(param, UcpRequestParam.contiguous(Long.BYTES));
                MemorySegment five = arena.allocateFrom(ValueLayout.JAVA_LONG, 5);
                for (int i = 0; i < 10; i++) {
                    talk.complete(UcpAtomic.operationNbx(talk.client.address(), UcpAtomic.ADD, five.address(), 1,
                            counter, key.address(), param));
                }
                talk.complete(talk.clientWorker.flushNbx(talk.plain));
                System.out.println("ten times five: " + memory.segment().get(ValueLayout.JAVA_LONG, COUNTER));

                System.out.println("the lock was " + tryLock(talk, arena, memory, key) + " at the first attempt");
                System.out.println("the lock was " + tryLock(talk, arena, memory, key) + " at the second");
            }
        }
    }

    /** Replaces {@link #FREE} by {@link #MINE}; returns what was there. */
    private static long tryLock(Conversation talk, Arena arena, UcpMemory memory, UcpRemoteKey key)
            throws UcxException {
        MemorySegment expected = arena.allocateFrom(ValueLayout.JAVA_LONG, FREE);
        MemorySegment swapped = arena.allocateFrom(ValueLayout.JAVA_LONG, MINE);
        long param = UcpRequestParam.allocate(arena);
        UcpRequestParam.setDatatype(param, UcpRequestParam.contiguous(Long.BYTES));
        UcpRequestParam.setReplyBuffer(param, swapped.address());
        talk.complete(UcpAtomic.operationNbx(talk.client.address(), UcpAtomic.COMPARE_AND_SWAP, expected.address(),
                1, memory.segment().address() + LOCK, key.address(), param));
        return swapped.get(ValueLayout.JAVA_LONG, 0);
    }
}
