// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** The binding as a whole. */
public final class UcpBinding {

    private UcpBinding() {
    }

    /**
     * Loads UCX and binds what an endpoint with messages takes, which the first calls would do otherwise: most of what a
     * process spends on its first connection. Makes nothing of UCX's. Any thread may call, also while others use UCX.
     *
     * @throws UnsatisfiedLinkError if there is no usable UCX
     */
    public static void prepare() {
        UcpFunctions.Messages.prepare();
        // Whoever has prepared for may be gone by now, and nobody would take back what is made after that.
        Upcalls.retain();
        try {
            Upcalls.endpointError();
        } finally {
            Upcalls.release();
        }
    }

    /**
     * Keeps what UCX calls back from now on, until {@link #release()}, though there may be no worker at times: to make it
     * again takes some milliseconds. Loads nothing. Any thread may call.
     */
    public static void retain() {
        Upcalls.retain();
    }

    /** With the last one goes what would keep this class's loader. Any thread may call. */
    public static void release() {
        Upcalls.release();
    }
}
