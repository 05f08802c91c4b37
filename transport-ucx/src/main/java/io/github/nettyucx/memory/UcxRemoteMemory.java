// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.worker.Attachment;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ReadOnlyBufferException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * A peer's memory, as the channel over which its key was opened reaches it. It goes with the channel.
 * <p>
 * Offsets and lengths are in bytes. Each operation has two forms. The one that answers with a future may be called by any
 * thread. The one with a {@link UcxCompletion} allocates nothing, unless its buffer is a composite, and is for the channel's
 * event loop only.
 * <p>
 * A put is done when its bytes are where the owner sees them; a get when they are in the target. A failed operation has
 * read and written nothing, unless it has failed because the connection ended, or in the middle of a copy: by an
 * {@link Error} or something else that a buffer throws, such as of a mapped file that somebody has made shorter.
 * <p>
 * Operations of one channel take effect in the order in which they are begun. On memory that this process has not attached
 * there are two exceptions. The bytes of several puts can arrive in any order, until a get, an atomic operation or a
 * notification comes behind them. And a get can have what is written by operations behind it. What is begun when another
 * operation or a flush is done takes effect after it; a flush that is not waited for orders nothing.
 */
public final class UcxRemoteMemory implements AutoCloseable {

    private static final long RETRY_MILLIS = 1;

    private final MemoryAccess access;
    private final EventExecutor executor;
    private final int handle;
    private final long length;
    private final int rights;
    /** Where this process has attached the memory; 0: it has not. */
    private final long base;
    private final Attachment attachment;
    /** Of the views; {@code null} as long as nobody has asked for one. */
    private Arena views;
    private MemorySegment view;
    /** Why nothing can be done any more, for other reasons than the end of the connection. */
    private Reason ended;

    UcxRemoteMemory(MemoryAccess access, EventExecutor executor, int handle, long length, int rights,
                    Attachment attachment) {
        this.access = access;
        this.executor = executor;
        this.handle = handle;
        this.length = length;
        this.rights = rights;
        this.attachment = attachment;
        base = attachment == null ? 0 : attachment.address();
    }

    int handle() {
        return handle;
    }

    // ------------------------------------------------------------------------------------------- what it is

    /** In bytes. */
    public long length() {
        return length;
    }

    /** Which the key gives. */
    public Set<UcxMemoryRight> rights() {
        return UcxMemoryRight.of(rights);
    }

    /** Whether this process has attached the memory, and the owner's event loop has no part in operations. */
    public boolean isDirect() {
        return base != 0;
    }

    /** Of the channel: it carries out the operations, and tells of them. */
    public EventExecutor executor() {
        return executor;
    }

    // ------------------------------------------------------------------------------------------- any thread

    /**
     * Writes the readable bytes of a buffer to the peer's memory.
     *
     * @param source released when it is not needed any more, as by a channel's write
     */
    public Future<Void> put(long offset, ByteBuf source) {
        return run(completion -> put(offset, source, completion, 0), value -> null, source);
    }

    /**
     * The same, and has the owner's channel fire a {@link UcxMemoryNotification} when the bytes are there.
     *
     * @param source       may be empty; released as by {@link #put(long, ByteBuf)}
     * @param notification what the owner is told
     */
    public Future<Void> putAndNotify(long offset, ByteBuf source, long notification) {
        return run(completion -> putAndNotify(offset, source, notification, completion, 0), value -> null, source);
    }

    /**
     * Reads from the peer's memory.
     *
     * @param target to whose written bytes they are added; stays the caller's, who must not write to it meanwhile. It is
     *               retained until the get is over
     * @return done with the target; fails with a {@link java.nio.ReadOnlyBufferException} if that can only be read, and if
     *         the channel's event loop calls, that is thrown
     */
    public Future<ByteBuf> get(long offset, ByteBuf target, int length) {
        if (target.isReadOnly() && !executor.inEventLoop()) {
            return executor.newFailedFuture(new ReadOnlyBufferException());
        }
        if (length > 0) {
            target.ensureWritable(length);
        }
        int index = target.writerIndex();
        // Who gives up may release it at any time, and then it may be somebody else's.
        target.retain();
        return run(completion -> getRetained(offset, target, index, length, completion), value -> target, target);
    }

    private void getRetained(long offset, ByteBuf target, int index, int length, UcxCompletion completion) {
        try {
            get(offset, target, index, length, (id, value, cause) -> {
                Throwable failure = cause == null ? added(target, index + length) : cause;
                ReferenceCountUtil.safeRelease(target);
                completion.done(id, value, failure);
            }, 0);
        } catch (Throwable t) {
            ReferenceCountUtil.safeRelease(target);
            throw t;
        }
    }

    /** @return why that was not possible, or {@code null} */
    private static Throwable added(ByteBuf target, int end) {
        try {
            target.writerIndex(end);
            return null;
        } catch (RuntimeException e) {
            // Such as of a target that the application has made smaller.
            return e;
        }
    }

    /**
     * Adds to a 64-bit value atomically.
     *
     * @param offset of the value; has to be divisible by 8
     * @return what was there before
     */
    public Future<Long> fetchAndAdd(long offset, long delta) {
        return run(completion -> fetchAndAdd(offset, delta, completion, 0), value -> value);
    }

    /**
     * Stores a 64-bit value atomically, if another one is there.
     *
     * @param offset of the value; has to be divisible by 8
     * @return what was there before: {@code expected} if the value was stored
     */
    public Future<Long> compareAndSwap(long offset, long expected, long update) {
        return run(completion -> compareAndSwap(offset, expected, update, completion, 0), value -> value);
    }

    /**
     * Done when all operations are that were begun before on this channel. Fails if one of them has failed of which
     * nobody was told.
     */
    public Future<Void> flush() {
        return run(completion -> flush(completion, 0), value -> null);
    }

    /** Several operations, to be handed to the event loop at once, with one future for all. */
    public UcxMemoryBatch batch() {
        return new UcxMemoryBatch(this);
    }

    /**
     * @param result  of the future, by the value that the operation has
     * @param buffers released if there is no loop any more that could begin the operation
     */
    <T> Future<T> run(Consumer<UcxCompletion> operation, LongFunction<T> result, ByteBuf... buffers) {
        Promise<T> promise = executor.newPromise();
        UcxCompletion completion = (id, value, cause) -> end(promise, result, value, cause);
        if (executor.inEventLoop()) {
            operation.accept(completion);
            return promise;
        }
        try {
            executor.execute(() -> begin(operation, completion, promise));
        } catch (RuntimeException | OutOfMemoryError e) {
            for (ByteBuf buffer : buffers) {
                ReferenceCountUtil.safeRelease(buffer);
            }
            promise.tryFailure(e);
        }
        return promise;
    }

    private static <T> void end(Promise<T> promise, LongFunction<T> result, long value, Throwable cause) {
        if (cause == null) {
            promise.trySuccess(result.apply(value));
        } else {
            promise.tryFailure(cause);
        }
    }

    /** In a task nobody else would learn what it throws. */
    private static void begin(Consumer<UcxCompletion> operation, UcxCompletion completion, Promise<?> promise) {
        try {
            operation.accept(completion);
        } catch (Throwable t) {
            promise.tryFailure(t);
        }
    }

    // ------------------------------------------------------------------------------------------- the event loop only

    /**
     * As {@link #put(long, ByteBuf)}, allocating nothing.
     *
     * @param completion told with {@code id}; {@code null}: nobody is told, and a failure fails the next flush
     * @throws IllegalStateException if another thread calls; the source has been released, as whenever this throws
     */
    public void put(long offset, ByteBuf source, UcxCompletion completion, long id) {
        put(offset, source, false, 0, completion, id);
    }

    /** As {@link #putAndNotify(long, ByteBuf, long)}, allocating nothing. */
    public void putAndNotify(long offset, ByteBuf source, long notification, UcxCompletion completion, long id) {
        put(offset, source, true, notification, completion, id);
    }

    private void put(long offset, ByteBuf source, boolean notifying, long notification, UcxCompletion completion,
                     long id) {
        assertInLoop(source);
        int count = source.readableBytes();
        Throwable refusal = refusal(UcxMemoryRight.WRITE, offset, count);
        if (refusal != null) {
            source.release();
            access.tell(completion, id, 0, refusal);
        } else if (base == 0) {
            access.put(handle, offset, source, notifying, notification, completion, id);
        } else {
            copyOrRelease(source, base + offset, count);
            // The bytes are there before whatever tells of them.
            VarHandle.releaseFence();
            if (notifying) {
                access.notify(handle, offset, count, source, notification, completion, id);
            } else {
                source.release();
                access.tell(completion, id, 0, null);
            }
        }
    }

    /** A source whose bytes cannot be had is given back as any other. */
    private static void copyOrRelease(ByteBuf source, long address, int count) {
        try {
            RawMemory.copyOut(source, source.readerIndex(), address, count);
        } catch (Throwable t) {
            ReferenceCountUtil.safeRelease(source);
            throw t;
        }
    }

    /**
     * As {@link #get(long, ByteBuf, int)}, allocating nothing, and leaving the target's indexes alone.
     *
     * @param index of the first byte in the target, which has to have the capacity
     * @throws java.nio.ReadOnlyBufferException if the target, or a part of it, can only be read
     * @throws IndexOutOfBoundsException if the target has no such bytes
     * @throws io.netty.util.IllegalReferenceCountException if it has been released
     * @throws IllegalStateException if another thread calls
     */
    public void get(long offset, ByteBuf target, int index, int length, UcxCompletion completion, long id) {
        assertInLoop();
        Throwable refusal = refusal(UcxMemoryRight.READ, offset, length);
        if (refusal != null) {
            access.tell(completion, id, 0, refusal);
            return;
        }
        RawMemory.checkTarget(target, index, length);
        RawMemory.checkParts(target, index, length);
        if (base == 0) {
            access.get(handle, offset, target, index, length, completion, id);
        } else {
            VarHandle.acquireFence();
            RawMemory.copyIn(base + offset, target, index, length);
            access.tell(completion, id, 0, null);
        }
    }

    /** As {@link #fetchAndAdd(long, long)}, allocating nothing. */
    public void fetchAndAdd(long offset, long delta, UcxCompletion completion, long id) {
        assertInLoop();
        Throwable refusal = refusal(UcxMemoryRight.ATOMIC, offset, Long.BYTES);
        if (refusal != null) {
            access.tell(completion, id, 0, refusal);
        } else if (base == 0) {
            access.add(handle, offset, delta, completion, id);
        } else {
            access.tell(completion, id, RawMemory.getAndAdd(base + offset, delta), null);
        }
    }

    /** As {@link #compareAndSwap(long, long, long)}, allocating nothing. */
    public void compareAndSwap(long offset, long expected, long update, UcxCompletion completion, long id) {
        assertInLoop();
        Throwable refusal = refusal(UcxMemoryRight.ATOMIC, offset, Long.BYTES);
        if (refusal != null) {
            access.tell(completion, id, 0, refusal);
        } else if (base == 0) {
            access.swap(handle, offset, expected, update, completion, id);
        } else {
            access.tell(completion, id, RawMemory.compareAndExchange(base + offset, expected, update), null);
        }
    }

    /** As {@link #flush()}, allocating nothing. */
    public void flush(UcxCompletion completion, long id) {
        assertInLoop();
        access.flush(completion, id);
    }

    private void assertInLoop() {
        assertInLoop(null);
    }

    /** @param source given back as that of any put that fails; or {@code null} */
    private void assertInLoop(ByteBuf source) {
        if (!executor.inEventLoop()) {
            ReferenceCountUtil.safeRelease(source);
            throw new IllegalStateException("this form is for the channel's event loop only; other threads use the one"
                    + " that answers with a future");
        }
    }

    /** Why an operation cannot be begun, or {@code null}. */
    private Throwable refusal(UcxMemoryRight right, long offset, long count) {
        UcxMemoryException refusal = refusalByKey(right, offset, count);
        return refusal != null ? refusal : access.problem();
    }

    private UcxMemoryException refusalByKey(UcxMemoryRight right, long offset, long count) {
        if (ended != null) {
            return new UcxMemoryException(ended);
        }
        if ((rights & right.bit()) == 0) {
            return new UcxMemoryException(Reason.NO_RIGHT, Reason.NO_RIGHT.text() + ": " + right + "; it gives "
                    + rights());
        }
        if (offset < 0 || count < 0 || offset > length - count) {
            return new UcxMemoryException(Reason.OUT_OF_RANGE, "offset " + offset + ", length " + count + ": "
                    + Reason.OUT_OF_RANGE.text() + ", which has " + length + " bytes");
        }
        if (right == UcxMemoryRight.ATOMIC && offset % Long.BYTES != 0) {
            return new UcxMemoryException(Reason.MISALIGNED, "offset " + offset + ": " + Reason.MISALIGNED.text());
        }
        return null;
    }

    // ------------------------------------------------------------------------------------------- direct

    /**
     * The memory itself, if this process has {@linkplain #isDirect() attached} it: for ordinary loads and stores, by any
     * thread. Without the right to write it is read-only. When the memory is closed or revoked, or the channel ends, access
     * to this throws an {@link IllegalStateException}. Only for the event loop.
     *
     * @throws UnsupportedOperationException if this process has not attached it
     * @throws UcxMemoryException if the key gives no right to read, or the memory has been closed or revoked
     * @throws IllegalStateException if the connection has ended, or another thread calls
     */
    public MemorySegment view() throws UcxMemoryException {
        assertInLoop();
        if (base == 0) {
            throw new UnsupportedOperationException("the peer's memory is not attached: that needs lane shm, and memory"
                    + " of the peer's from UcxMemory.allocate");
        }
        UcxMemoryException refusal = refusalByKey(UcxMemoryRight.READ, 0, length);
        if (refusal != null) {
            throw refusal;
        }
        if (access.end() != null) {
            throw new IllegalStateException("the connection has ended", access.end());
        }
        if (view == null) {
            views = Arena.ofShared();
            MemorySegment all = NativeMemory.view(base, length, views);
            view = (rights & UcxMemoryRight.WRITE.bit()) == 0 ? all.asReadOnly() : all;
        }
        return view;
    }

    // ------------------------------------------------------------------------------------------- the end

    /** Begins nothing more; what is under way goes on. Any thread may call. */
    @Override
    public void close() {
        if (executor.inEventLoop()) {
            access.close(this);
        } else {
            LoopTask.execute(executor, () -> access.close(this));
        }
    }

    /**
     * @param reason   {@code null} if the connection has ended, of which the access knows
     * @param detached run when this process has given the memory up
     */
    void end(Reason reason, Runnable detached) {
        ended = reason;
        detach(detached);
    }

    private void detach(Runnable detached) {
        if (views != null) {
            try {
                views.close();
                views = null;
            } catch (IllegalStateException e) {
                // Another thread is in a native call with it.
                if (!executor.isShuttingDown()) {
                    executor.schedule(() -> detach(detached), RETRY_MILLIS, TimeUnit.MILLISECONDS);
                }
                return;
            }
        }
        if (attachment != null) {
            attachment.close();
        }
        detached.run();
    }
}
