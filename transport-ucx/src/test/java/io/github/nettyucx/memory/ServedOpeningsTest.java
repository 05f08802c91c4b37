// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.Limits;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a peer that could attach it opens of memory that another thread revokes. */
class ServedOpeningsTest extends MemoryFixture {

    private final FakePort sharedPort = new FakePort();
    private final Connection sharedConnection = new Connection(sharedPort, FakePort.CHANNEL_ID, Limits.MIN_WINDOW,
            Limits.MIN_WINDOW, this, Unpooled::directBuffer, Traffic.ofConnection());
    private final MemoryExchange sharing = new MemoryExchange(sharedPort, sharedConnection, true, () -> { });
    private final ServedOpenings openings = new ServedOpenings(sharing);

    private Reason open(UcxMemory region) {
        Job job = new Job();
        job.number = 1;
        job.frame = sharing.frames().acquire();
        return openings.open(job, sharing.frames().address(job.frame), region, UcxMemoryRight.ALL_BITS);
    }

    /** Its key has been looked up before. */
    @Test
    void memoryThatIsRevokedWhileItIsBeingOpenedIsRefused() {
        sharedConnection.open(PEER, Limits.MIN_WINDOW, Limits.MIN_WINDOW);
        sharing.start(Runnable::run);
        UcxMemory region = UcxMemory.allocate(64, UcxMemoryRight.values());
        assertTrue(region.isShared());
        assertTrue(region.revoke().isDone());
        assertEquals(Reason.REVOKED, open(region));
        UcxMemory other = UcxMemory.allocate(64, UcxMemoryRight.values());
        assertNull(open(other));
        assertEquals(Tag.MEMORY_ANSWER, sharedPort.sent.getLast().type());
        assertTrue(sharedPort.sent.getLast().bytes().length > MemoryFrame.SHARED_KEY_AT, "it cannot be attached");
        // The peer has attached it.
        assertEquals(1, other.memory().refCnt());
        other.revoke();
        assertEquals(1, other.memory().refCnt());
        openings.ended();
        assertEquals(0, other.memory().refCnt());
        sharedConnection.close();
    }
}
