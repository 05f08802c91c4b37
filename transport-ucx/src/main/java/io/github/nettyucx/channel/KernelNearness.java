// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.Nearness;
import io.github.nettyucx.socket.PresenceSign;

import java.io.IOException;

/** By the kernel, whose abstract names one network namespace has. */
enum KernelNearness implements Nearness {
    INSTANCE;

    @Override
    public Sign show(byte[] digest) {
        PresenceSign sign = PresenceSign.open(digest);
        return sign == null ? null : sign::close;
    }

    @Override
    public boolean isShown(byte[] digest) throws IOException {
        return PresenceSign.isThere(digest);
    }
}
