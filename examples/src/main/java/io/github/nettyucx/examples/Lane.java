// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.Locale;

/** What carries the bytes of a UCX connection. All but {@link #AUTO} are required: without it there is no connection. */
public enum Lane {
    /** Shared memory on one host, RDMA between two that have it, else the kernel's socket. */
    AUTO,
    SHM,
    RDMA,
    /** UCX's own TCP. */
    TCP,
    /** The kernel's TCP, without UCX. */
    SOCKET;

    /** For help texts. */
    public static final String HELP = "What ucx may use: shm (shared memory), rdma, tcp (UCX's own), socket (the "
            + "kernel's TCP, without UCX) or auto (shm, rdma or socket, whichever can be had first)";

    private static final String PROPERTY = "io.github.nettyucx.lanes";

    /** Takes effect on a process that has not used the transport yet. */
    public void apply() {
        if (this != AUTO) {
            System.setProperty(PROPERTY, toString());
        }
    }

    /** Whether connections of this process may need UCX, as opposed to the kernel alone. */
    static boolean needsUcx() {
        return !SOCKET.toString().equals(System.getProperty(PROPERTY));
    }

    /** The name by which the command line, and the transport, knows this lane. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
