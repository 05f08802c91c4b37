// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** How to create a {@link UcpContext}. Not thread-safe; may be used for several contexts. */
public final class UcpContextParams {

    private long features;
    private boolean mtWorkersShared;
    private String name;
    private long estimatedEndpoints;
    private UcpConfig config;

    /** What the context is for; must be called. */
    public UcpContextParams features(UcpFeature... added) {
        for (UcpFeature feature : added) {
            features |= feature.bit;
        }
        return this;
    }

    /**
     * Whether threads other than the one of a worker may use the context at the same time, through workers of their
     * own; also what makes it possible to accept, on one thread's worker, a connection that another thread's listener
     * was asked for. Default: false.
     */
    public UcpContextParams mtWorkersShared(boolean shared) {
        mtWorkersShared = shared;
        return this;
    }

    /** A name for tools that look into UCX; at most 31 bytes of it are kept. Default: UCX's choice. */
    public UcpContextParams name(String name) {
        this.name = name;
        return this;
    }

    /** How many endpoints to expect, which UCX takes into account when it chooses transports. Default: UCX's choice. */
    public UcpContextParams estimatedEndpoints(long count) {
        if (count <= 0) {
            throw new IllegalArgumentException("estimatedEndpoints: " + count + " (expected: > 0)");
        }
        estimatedEndpoints = count;
        return this;
    }

    /** The configuration, which stays the caller's to close. Default: the environment. */
    public UcpContextParams config(UcpConfig config) {
        this.config = config;
        return this;
    }

    UcpConfig config() {
        return config;
    }

    long write(Arena arena) {
        if (features == 0) {
            throw new IllegalStateException("A context needs at least one feature");
        }
        MemorySegment params = arena.allocate(UcpLayouts.Params.SIZE, Long.BYTES);
        long mask = UcpConstants.UCP_PARAM_FIELD_FEATURES | UcpConstants.UCP_PARAM_FIELD_MT_WORKERS_SHARED;
        params.set(ValueLayout.JAVA_LONG, UcpLayouts.Params.FEATURES, features);
        params.set(ValueLayout.JAVA_INT, UcpLayouts.Params.MT_WORKERS_SHARED, mtWorkersShared ? 1 : 0);
        if (estimatedEndpoints != 0) {
            mask |= UcpConstants.UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.Params.ESTIMATED_NUM_EPS, estimatedEndpoints);
        }
        if (name != null) {
            mask |= UcpConstants.UCP_PARAM_FIELD_NAME;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.Params.NAME, arena.allocateFrom(name).address());
        }
        params.set(ValueLayout.JAVA_LONG, UcpLayouts.Params.FIELD_MASK, mask);
        return params.address();
    }
}
