// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An operation that did not complete when it was posted. */
abstract class FakeRequest {

    final FakePort port;
    private final String verb;
    private final FakeMessage message;
    private int status = UcsStatus.INPROGRESS;
    /** What it ends with instead of success. */
    private int doom = UcsStatus.OK;
    private boolean freed;
    private boolean abandoned;
    private ReferenceCounted owner;

    /** @param message that it is about */
    FakeRequest(FakePort port, String verb, FakeMessage message) {
        this.port = port;
        this.verb = verb;
        this.message = message;
    }

    @Override
    public final String toString() {
        return verb + " of " + message;
    }

    /** Whether it is about a message between these two channels, of which {@code ownId} is the one at this port. */
    final boolean isBetween(int ownId, int peerId) {
        return message.channelId() == (message.sender == port ? peerId : ownId);
    }

    /** Goes on, if it can. @return whether it did */
    abstract boolean advance();

    final void doom(int error) {
        doom = error;
    }

    final boolean isDoomed() {
        return doom != UcsStatus.OK;
    }

    final boolean isRunning() {
        return status == UcsStatus.INPROGRESS;
    }

    final boolean isFreed() {
        return freed;
    }

    final boolean isAbandoned() {
        return abandoned;
    }

    final boolean complete(int result) {
        assertTrue(isRunning(), () -> this + " completed twice");
        if (abandoned && owner != null) {
            assertTrue(owner.refCnt() > 0, () -> "memory of the abandoned " + this + " has been released");
        }
        status = result == UcsStatus.OK ? doom : result;
        port.trace(() -> this + " completes: " + UcsStatus.name(status));
        return true;
    }

    final int status() {
        assertFalse(freed, () -> this + " polled after it was freed");
        assertFalse(abandoned, () -> this + " polled after it was abandoned");
        return status;
    }

    final void free() {
        assertFalse(freed, () -> this + " freed twice");
        assertFalse(abandoned, () -> this + " freed although it was abandoned");
        assertNotEquals(UcsStatus.INPROGRESS, status, () -> this + " freed while it runs");
        freed = true;
    }

    final void abandon(ReferenceCounted memory) {
        assertFalse(freed, () -> this + " abandoned after it was freed");
        assertFalse(abandoned, () -> this + " abandoned twice");
        abandoned = true;
        owner = memory;
    }

    /** What the worker does with abandoned requests that have completed. */
    final boolean bury() {
        if (!abandoned || freed || isRunning()) {
            return false;
        }
        freed = true;
        if (owner != null) {
            owner.release();
        }
        return true;
    }
}
