// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** How to create a {@link UcpWorker}. Not thread-safe; may be used for several workers. */
public final class UcpWorkerParams {

    private int events;
    private UcsThreadMode threadMode = UcsThreadMode.SINGLE;
    private boolean hasClientId;
    private long clientId;
    private String name;

    /**
     * Which threads may use the worker. Default: {@link UcsThreadMode#SINGLE}.
     *
     * @throws IllegalArgumentException for {@link UcsThreadMode#MULTI}: its locks and the garbage collector could
     *                                  wait for each other. Use a worker for each thread
     */
    public UcpWorkerParams threadMode(UcsThreadMode mode) {
        if (mode == UcsThreadMode.MULTI) {
            throw new IllegalArgumentException("threadMode: MULTI (expected: SINGLE or SERIALIZED)");
        }
        threadMode = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /** What connections with {@link UcpEndpointParams#sendClientId} tell their peer about this side. Default: none. */
    public UcpWorkerParams clientId(long id) {
        clientId = id;
        hasClientId = true;
        return this;
    }

    /** A name for tools that look into UCX; at most 31 bytes of it are kept. Default: UCX's choice. */
    public UcpWorkerParams name(String name) {
        this.name = name;
        return this;
    }

    /** What wakes the worker. Default: everything. */
    public UcpWorkerParams events(UcpWakeupEvent... added) {
        for (UcpWakeupEvent event : added) {
            events |= event.bit;
        }
        return this;
    }

    long write(Arena arena) {
        MemorySegment params = arena.allocate(UcpLayouts.WorkerParams.SIZE, Long.BYTES);
        long mask = UcpConstants.UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        params.set(ValueLayout.JAVA_INT, UcpLayouts.WorkerParams.THREAD_MODE, threadMode.value);
        if (events != 0) {
            mask |= UcpConstants.UCP_WORKER_PARAM_FIELD_EVENTS;
            params.set(ValueLayout.JAVA_INT, UcpLayouts.WorkerParams.EVENTS, events);
        }
        if (hasClientId) {
            mask |= UcpConstants.UCP_WORKER_PARAM_FIELD_CLIENT_ID;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.WorkerParams.CLIENT_ID, clientId);
        }
        if (name != null) {
            mask |= UcpConstants.UCP_WORKER_PARAM_FIELD_NAME;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.WorkerParams.NAME, arena.allocateFrom(name).address());
        }
        params.set(ValueLayout.JAVA_LONG, UcpLayouts.WorkerParams.FIELD_MASK, mask);
        return params.address();
    }
}
