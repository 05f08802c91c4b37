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
        Upcalls.prepare();
    }
}
