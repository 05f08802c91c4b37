// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.ucp.UcpMemory;
import io.github.nettyucx.ucp.UcxException;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCounted;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The memory of a region, for as long as the region has access to it or an operation uses it. */
final class RegionMemory extends AbstractReferenceCounted {

    private static final int RETRY_MILLIS = 10;

    /** Ends the views of it. */
    private final Arena views = Arena.ofShared();
    private final long address;
    private final long length;
    /** {@code null} if other processes cannot attach it. */
    private final UcpMemory shared;
    private final Runnable release;
    private final MemorySegment segment;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    /** {@code null} if no loop has had to do with it. */
    private volatile Executor loop;
    /** Whether it has been given back. */
    private volatile boolean over;

    private RegionMemory(long address, long length, UcpMemory shared, Runnable release) {
        this.address = address;
        this.length = length;
        this.shared = shared;
        this.release = release;
        segment = NativeMemory.view(address, length, views);
    }

    static RegionMemory shared(UcpMemory memory) {
        return new RegionMemory(memory.segment().address(), memory.segment().byteSize(), memory, memory::close);
    }

    /** @param release gives the memory back, and throws nothing */
    static RegionMemory of(long address, long length, Runnable release) {
        return new RegionMemory(address, length, null, release);
    }

    long address() {
        return address;
    }

    long length() {
        return length;
    }

    MemorySegment segment() {
        return segment;
    }

    /** @return {@code null} if other processes cannot attach it */
    byte[] sharedKey() throws UcxException {
        return shared == null ? null : shared.packRemoteKey();
    }

    /** A loop in whose turns it is released, from now on. */
    void usedBy(Executor executor) {
        loop = executor;
    }

    /** Done when nobody uses it any more. */
    CompletableFuture<Void> gone() {
        return gone;
    }

    boolean isShared() {
        return shared != null;
    }

    /** @return whether it is still there; then it stays until it is released */
    boolean tryRetain() {
        try {
            retain();
            return true;
        } catch (IllegalReferenceCountException e) {
            return false;
        }
    }

    @Override
    public ReferenceCounted touch(Object hint) {
        return this;
    }

    @Override
    protected void deallocate() {
        giveBack();
    }

    private void giveBack() {
        try {
            views.close();
        } catch (IllegalStateException e) {
            // Another thread is in a native call with it, which may take as long as it likes.
            GlobalEventExecutor.INSTANCE.schedule(this::giveBack, RETRY_MILLIS, TimeUnit.MILLISECONDS);
            return;
        }
        release.run();
        tellGone();
    }

    /**
     * Who waits for it is the application, and may do anything. Memory is released in the middle of a loop's turn, and what
     * that goes through must not change meanwhile.
     */
    private void tellGone() {
        over = true;
        Executor later = loop == null ? Runnable::run : loop;
        try {
            later.execute(this::completeIfOver);
        } catch (RuntimeException e) {
            // The loop has ended, or has no room; whoever rejects its tasks may throw what he likes.
            GlobalEventExecutor.INSTANCE.execute(this::completeIfOver);
        }
    }

    /** To be called by who has released it for the application: that need not wait for a loop. */
    void completeIfOver() {
        if (over) {
            gone.complete(null);
        }
    }
}
