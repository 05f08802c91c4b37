// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An operation that did not complete when it was posted. */
abstract class FakeRequest {

    final FakeWorker worker;
    private final String name;
    /** {@code null} if it uses none. */
    final LoopMemory.Range memory;
    private int status = UcsStatus.INPROGRESS;
    private boolean freed;
    private boolean abandoned;
    private ReferenceCounted owner;

    FakeRequest(FakeWorker worker, String name, LoopMemory.Range memory) {
        this.worker = worker;
        this.name = name;
        this.memory = memory;
    }

    /** Goes on, if it can. @return whether it did */
    abstract boolean advance();

    /** The endpoint that it ends with, or {@code null} if it is none of one. */
    abstract FakeEndpoint endpoint();

    /** Whether UCX never completes it, whatever becomes of its endpoint. */
    boolean isStuck() {
        return false;
    }

    final boolean isRunning() {
        return status == UcsStatus.INPROGRESS;
    }

    final boolean isAbandoned() {
        return abandoned;
    }

    final boolean complete(int result) {
        assertTrue(isRunning(), () -> this + " completes twice");
        checkMemory();
        worker.loop.world.trace(() -> this + " completes: " + UcsStatus.name(result));
        status = result;
        return true;
    }

    final void checkMemory() {
        if (memory != null) {
            memory.check();
        }
        if (owner != null) {
            assertTrue(owner.refCnt() > 0, () -> "the owner of the memory of " + this + " has been released");
        }
    }

    /** With its process, or with its worker. */
    final void end() {
        status = UcsStatus.ERR_CANCELED;
        freed = true;
    }

    /** @param byWorker for whom it has been abandoned, or else by the connection */
    final int status(boolean byWorker) {
        checkHolder(byWorker, "polled");
        return status;
    }

    final void free(boolean byWorker) {
        checkHolder(byWorker, "freed");
        assertNotEquals(UcsStatus.INPROGRESS, status, () -> this + " is freed while it runs");
        freed = true;
    }

    final void abandon(ReferenceCounted memoryOwner) {
        checkHolder(false, "abandoned");
        abandoned = true;
        owner = memoryOwner;
        checkMemory();
    }

    private void checkHolder(boolean byWorker, String what) {
        worker.assertUsable();
        assertFalse(freed, () -> this + " is " + what + " after it was freed");
        assertEquals(byWorker, abandoned, () -> this + " is " + what + " by who does not have it");
    }

    @Override
    public final String toString() {
        return name;
    }
}
