// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.Locale;

/** What a UCX connection may use to carry its bytes. */
public enum Lane {
    /** The fastest that both sides have: RDMA between machines, shared memory on one, else TCP. */
    AUTO(null),
    /** Shared memory. Alone it has no way to find the peer, so TCP goes along with it. */
    SHM("shm,tcp"),
    TCP("tcp");

    private static final String PROPERTY = "io.github.nettyucx.tls";

    /** In the language of UCX_TLS; {@code null} for what UCX and the user's environment make of it. */
    private final String ucxTransports;

    Lane(String ucxTransports) {
        this.ucxTransports = ucxTransports;
    }

    /** Takes effect on a process that has not used UCX yet. */
    public void apply() {
        if (ucxTransports != null) {
            System.setProperty(PROPERTY, ucxTransports);
        }
    }

    /** The name by which the command line knows this lane. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
