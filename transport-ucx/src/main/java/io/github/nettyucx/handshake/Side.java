// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/** Who is who. Messages name both sides like this, so that they can be read on either. */
enum Side {
    CLIENT, SERVER;

    Side other() {
        return this == CLIENT ? SERVER : CLIENT;
    }

    @Override
    public String toString() {
        return this == CLIENT ? "the client" : "the server";
    }
}
