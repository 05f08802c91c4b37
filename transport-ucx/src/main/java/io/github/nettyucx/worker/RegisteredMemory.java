// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The memory that one loop has registered with UCX for its links of one kind: send buffers, and buffers to receive into.
 * It is made on first use. Where it cannot be had, or is used up, other memory takes its place, which UCX registers for
 * each operation.
 * <p>
 * Operations are given the registration of what they are called with by its address: a buffer that was received and is
 * sent on needs no registration either.
 * <p>
 * When UCX fails an operation it leaves such a registration alone, and the peer may still have its key, and reach the
 * memory: what has been registered is then retired. Nothing new is done with it, and its registration ends when the last
 * buffer of it is back.
 * <p>
 * Only the loop's thread calls.
 */
public final class RegisteredMemory {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RegisteredMemory.class);

    private final LinkKind kind;
    private final Counters<WorkerCounter> counters;
    private final SendBufferPool sendBuffers;
    /** Those in use; an array because every operation goes through it. There are some few. */
    private MemorySlab[] slabs = new MemorySlab[0];
    private final List<MemorySlab> retired = new ArrayList<>();
    private ReceivePool receivePool;
    /** Once UCX has refused it is not asked again, message by message. */
    private boolean unavailable;

    RegisteredMemory(LinkKind kind, Counters<WorkerCounter> counters) {
        this.kind = kind;
        this.counters = counters;
        sendBuffers = new SendBufferPool(counters, this);
    }

    public SendBufferPool sendBuffers() {
        return sendBuffers;
    }

    /**
     * A buffer to receive a large message into. It may be released by any thread, and after the loop's end.
     *
     * @param length in bytes
     * @return {@code null} for a message that is not worth it, and when there is none
     */
    public ByteBuf receiveBuffer(int length) {
        if (length < ReceivePool.MIN_LENGTH || length > ReceivePool.SIZE) {
            return null;
        }
        if (receivePool == null) {
            MemorySlab slab = newSlab(ReceivePool.SIZE);
            if (slab == null) {
                return null;
            }
            receivePool = new ReceivePool(slab);
        }
        return receivePool.acquire(length);
    }

    /**
     * What an operation on memory is given.
     *
     * @param otherwise the answer for memory that is not registered here
     */
    long param(long address, long length, long otherwise) {
        for (MemorySlab slab : slabs) {
            if (slab.covers(address, length)) {
                counters.increment(WorkerCounter.REGISTERED_OPERATIONS);
                return slab.param();
            }
        }
        return otherwise;
    }

    /** @return {@code null} if it cannot be had */
    MemorySlab newSlab(int bytes) {
        if (unavailable) {
            return null;
        }
        MemorySlab slab;
        try {
            slab = new MemorySlab(kind, bytes);
        } catch (IOException | OutOfMemoryError e) {
            unavailable = true;
            logger.warn("{} bytes could not be registered for links of kind {}, and UCX registers the memory of each "
                    + "operation from now on; is enough memory allowed to be locked (ulimit -l)? {}", bytes, kind,
                    e.toString());
            return null;
        }
        counters.increment(WorkerCounter.MEMORY_REGISTERED);
        slabs = Arrays.copyOf(slabs, slabs.length + 1);
        slabs[slabs.length - 1] = slab;
        return slab;
    }

    /** A peer may still reach what is registered now. */
    void retire() {
        for (MemorySlab slab : slabs) {
            slab.retire();
            retired.add(slab);
        }
        slabs = new MemorySlab[0];
        receivePool = null;
        sendBuffers.retire();
        collect();
    }

    /** Ends the registrations of what nobody uses any more. The rest can wait: nobody knows for how long. */
    void collect() {
        for (int i = retired.size() - 1; i >= 0; i--) {
            if (retired.get(i).isFree()) {
                unregister(retired.remove(i));
            }
        }
    }

    /** Whether there is something left whose registration ends when its last buffer is back. */
    boolean hasRetired() {
        return !retired.isEmpty();
    }

    /** There must be no operation any more. Buffers that somebody still has stay what they are. */
    void close() {
        unavailable = true;
        retire();
        sendBuffers.close();
        retired.forEach(this::unregister);
        retired.clear();
    }

    private void unregister(MemorySlab slab) {
        slab.close();
        counters.increment(WorkerCounter.MEMORY_UNREGISTERED);
    }
}
