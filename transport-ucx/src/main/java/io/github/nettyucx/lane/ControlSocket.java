// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.KernelSocket;

import java.io.IOException;

/**
 * The control socket, as a lane over a link sees it when the handshake is over: it tells by its end that the peer has
 * gone.
 */
interface ControlSocket {

    static ControlSocket of(KernelSocket socket) {
        return new ControlSocket() {
            @Override
            public int peek() {
                return socket.peek(ControlByte.ADDRESS, 1);
            }

            @Override
            public void resetOnClose() throws IOException {
                socket.resetOnClose();
            }
        };
    }

    /** Above 0 if there are bytes, 0 at the end, or a negative errno; {@code EAGAIN}: nothing yet. */
    int peek();

    /** Its close is to be a reset. */
    void resetOnClose() throws IOException;
}
