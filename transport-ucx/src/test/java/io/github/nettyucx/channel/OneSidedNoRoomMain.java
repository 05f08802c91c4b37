// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.faults.Child;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A program that has 64 MiB of shared memory, or none: a region that has room there, and one that has not. */
final class OneSidedNoRoomMain {

    private static final long FITTING = 1 << 20;
    private static final long TOO_LARGE = 96 << 20;
    private static final long VALUE = 4711;
    private static final ValueLayout.OfLong BIG_ENDIAN = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    private OneSidedNoRoomMain() {
    }

    /** @param arguments which lane there is, and whether there is shared memory at all */
    public static void main(String[] arguments) throws Exception {
        boolean sharing = Boolean.parseBoolean(arguments[1]);
        try (MemoryPair pair = new MemoryPair()) {
            assertEquals(arguments[0], pair.channel.lane());
            check(pair, FITTING, sharing);
            check(pair, TOO_LARGE, false);
            check(pair, FITTING, sharing);
        }
        Child.say("done");
        System.exit(0);
    }

    private static void check(MemoryPair pair, long length, boolean shared) throws Exception {
        try (UcxMemory memory = UcxMemory.allocate(length, MemoryPair.ALL)) {
            assertEquals(shared, memory.isShared(), () -> memory + " says that it is shared");
            UcxRemoteMemory remote = pair.open(memory);
            assertEquals(shared, remote.isDirect(), () -> memory + " is attached");
            Peers.await(remote.put(length - 8, Unpooled.copyLong(VALUE)));
            assertEquals(VALUE, memory.segment().get(BIG_ENDIAN, length - 8));
            ByteBuf target = Unpooled.directBuffer(8, 8);
            Peers.await(remote.get(length - 8, target, 8));
            assertEquals(VALUE, target.readLong());
            target.release();
            remote.close();
        }
    }
}
