// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Operations on a peer's memory that are begun together: one task for the event loop, and one future. They take effect as
 * they would one by one. For one thread, and to be submitted once.
 */
public final class UcxMemoryBatch {

    private final UcxRemoteMemory memory;
    private final List<Runnable> operations = new ArrayList<>();
    /** Sources of puts, and from {@link #submit} on targets of gets: what is released if nothing can be begun. */
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final List<Get> gets = new ArrayList<>();
    private final UcxCompletion completion = (id, value, cause) -> completed(cause);
    private boolean submitted;
    /** Told when all are done. */
    private UcxCompletion whole;
    private int left;
    private Throwable failure;

    private final class Get implements Runnable {

        private final long offset;
        private final ByteBuf target;
        private final int index;
        private final int length;
        /** Why the target cannot be retained, or {@code null}. */
        private RuntimeException refusal;

        Get(long offset, ByteBuf target, int index, int length) {
            this.offset = offset;
            this.target = target;
            this.index = index;
            this.length = length;
        }

        /** Who gives up may release the target at any time, and then it may be somebody else's. */
        void retain() {
            try {
                buffers.add(target.retain());
            } catch (IllegalReferenceCountException e) {
                refusal = e;
            }
        }

        @Override
        public void run() {
            if (refusal != null) {
                throw refusal;
            }
            memory.get(offset, target, index, length, completion, 0);
        }

        void release() {
            if (refusal == null) {
                ReferenceCountUtil.safeRelease(target);
            }
        }
    }

    UcxMemoryBatch(UcxRemoteMemory memory) {
        this.memory = memory;
    }

    /** @param source released when it is not needed any more; it is never if the batch is not submitted */
    public UcxMemoryBatch put(long offset, ByteBuf source) {
        Objects.requireNonNull(source, "source");
        return add(() -> memory.put(offset, source, completion, 0), source);
    }

    /** @param source as for {@link #put} */
    public UcxMemoryBatch putAndNotify(long offset, ByteBuf source, long notification) {
        Objects.requireNonNull(source, "source");
        return add(() -> memory.putAndNotify(offset, source, notification, completion, 0), source);
    }

    /**
     * @param target stays the caller's; it is retained from {@link #submit} on, until the batch is done
     * @param index of the first byte in the target, whose indexes stay as they are
     */
    public UcxMemoryBatch get(long offset, ByteBuf target, int index, int length) {
        Objects.checkFromIndexSize(index, length, target.capacity());
        Get get = new Get(offset, target, index, length);
        add(get, null);
        gets.add(get);
        return this;
    }

    private UcxMemoryBatch add(Runnable operation, ByteBuf source) {
        if (submitted) {
            ReferenceCountUtil.safeRelease(source);
            throw new IllegalStateException("the batch has been submitted");
        }
        operations.add(operation);
        if (source != null) {
            buffers.add(source);
        }
        return this;
    }

    /** @return done when all operations are; fails with the first failure, when all of them have ended */
    public Future<Void> submit() {
        if (submitted) {
            throw new IllegalStateException("the batch has been submitted");
        }
        submitted = true;
        gets.forEach(Get::retain);
        return memory.run(this::begin, value -> null, buffers.toArray(new ByteBuf[0]));
    }

    private void begin(UcxCompletion told) {
        whole = told;
        // One more, so that it is not over before the last has begun.
        left = operations.size() + 1;
        for (Runnable operation : operations) {
            try {
                operation.run();
            } catch (Throwable t) {
                // Such as a target that has been released; the others are begun.
                completed(t);
            }
        }
        completed(null);
    }

    private void completed(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        if (--left == 0) {
            gets.forEach(Get::release);
            whole.done(0, 0, failure);
        }
    }
}
