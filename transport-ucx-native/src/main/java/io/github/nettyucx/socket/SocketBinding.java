// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

/** The binding of the kernel's sockets as a whole. */
public final class SocketBinding {

    private SocketBinding() {
    }

    /**
     * Binds the functions, which the first call would do otherwise: most of what a process spends on its first socket.
     * Any thread may call, also while others use sockets.
     */
    public static void prepare() {
        SocketFunctions.prepare();
    }
}
