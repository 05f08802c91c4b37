// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Keeps what a handshake says and does. */
final class Recorder implements Handshake.Owner {

    final List<byte[]> sent = new ArrayList<>();
    Outcome outcome;
    HandshakeException failure;
    /** For how long it would wait. */
    long nanosLeft = Long.MAX_VALUE;
    /** Whether the peer has ended the connection. */
    boolean ended;

    @Override
    public long nanosLeft() {
        return nanosLeft;
    }

    @Override
    public boolean isEnded() {
        return ended;
    }

    @Override
    public void send(ByteBuf frame) {
        assertUndecided();
        assertTrue(frame.isDirect());
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        frame.release();
        sent.add(bytes);
    }

    @Override
    public void opened(Outcome result) {
        assertUndecided();
        outcome = result;
    }

    @Override
    public void failed(HandshakeException cause) {
        assertUndecided();
        failure = cause;
    }

    private void assertUndecided() {
        assertNull(outcome, "it was open before");
        assertNull(failure, "it had failed before");
    }
}
