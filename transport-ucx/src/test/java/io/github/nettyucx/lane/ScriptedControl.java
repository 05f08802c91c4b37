// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.StreamEnd;

import java.io.IOException;

/** A control socket that tells what a test has it tell. */
final class ScriptedControl implements StreamEnd {

    int peeked = -Errno.EAGAIN;
    int ends;
    int resets;
    IOException failure;

    @Override
    public int peek() {
        return peeked;
    }

    @Override
    public void shutdownOutput() throws IOException {
        ends++;
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void resetOnClose() throws IOException {
        resets++;
        if (failure != null) {
            throw failure;
        }
    }
}
