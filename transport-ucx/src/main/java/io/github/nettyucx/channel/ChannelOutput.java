// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.Written;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.channel.ChannelOutboundBuffer;

/** When a channel's lane is given what the application has flushed. */
final class ChannelOutput extends LaneWork {

    /** {@code null} if how long the peer may be silent is not this transport's matter. */
    private final PeerWatch peerWatch;
    /** The channel's; Netty takes it from the channel when it closes, and we need it until everything is delivered. */
    private ChannelOutboundBuffer buffer;
    /** What was flushed has failed: what the lane still completes of it is not what lies in the buffer now. */
    private boolean failed;
    /** Whether what cannot be sent any more fails now. */
    private boolean failing;
    /** Whether there is more to send when the lane has room. */
    private boolean waiting;
    /** The turn of the last write, and how many there have been in it. */
    private int turn;
    private int writes;

    ChannelOutput(UcxSocketChannel channel, Lane lane, ProgressEngine engine, PeerWatch peerWatch,
                  ChannelOutboundBuffer buffer) {
        super(channel, lane, engine);
        this.peerWatch = peerWatch;
        this.buffer = buffer;
        if (peerWatch != null) {
            // The last words of the handshake may be under way.
            peerWatch.written();
        }
    }

    /** The channel is closed. */
    void closed() {
        if (peerWatch != null) {
            peerWatch.close();
        }
    }

    /** The lane has completed sends, or has room. */
    void advanced() {
        if (waiting || !lane.isIdle() || channel.halfClose.isOutputEnding()) {
            schedule();
        }
    }

    @Override
    void advance() {
        complete();
        failing = true;
        try {
            channel.continueWriting();
        } finally {
            failing = false;
        }
    }

    /** Fails what waits to be sent, if it cannot be sent any more. */
    void failWaiting() {
        failing = true;
        try {
            channel.flushNow();
        } finally {
            failing = false;
        }
    }

    /** Does the promises of what has been completed. */
    void complete() {
        lane.complete(failed ? null : buffer);
    }

    /** A call of the lane's does not return: see {@link Lane#resume}. */
    void resume() {
        lane.resume(failed ? null : buffer);
    }

    /**
     * Nothing can be sent any more: does the promises of what has been completed, and fails the others of what was flushed. In
     * the next turn, if the application flushes: one that writes for as long as it may would never come to an end, as what
     * fails makes room for more.
     */
    void fail(ChannelOutboundBuffer in, Throwable cause) {
        complete();
        failed = true;
        if (!failing || !failFlushed(in, cause)) {
            schedule();
        }
    }

    /** Whether everything that was flushed has been sent and its promises are done. */
    boolean isDrained() {
        return buffer == null || buffer.isEmpty();
    }

    /** Sends nothing more of what was flushed; the channel is about to fail it. */
    void giveUp() {
        buffer = null;
    }

    /** Sends what has been flushed, also before the channel was closed. */
    void write() throws Exception {
        if (buffer == null) {
            return;
        }
        lookAfterPeer();
        Written written = lane.write(buffer, channel.config().getWriteSpinCount());
        waiting = written != Written.DRAINED;
        if (peerWatch != null) {
            peerWatch.written();
        }
        if (waiting && lane.failure() != null) {
            throw lane.failure();
        }
        if (written == Written.AGAIN) {
            schedule();
        }
    }

    /**
     * An application that has kept its loop busy, and goes on to write, has to learn that the peer has gone meanwhile: over
     * a link that is nothing a write would notice. Looking takes a system call, so it is not done for the first write in a
     * turn, and then after as many again.
     */
    private void lookAfterPeer() {
        if (turn != engine.turn()) {
            turn = engine.turn();
            writes = 1;
        } else if (Integer.bitCount(++writes) == 1) {
            lane.socketReady(0);
        }
    }

    /**
     * Fails what has been flushed. An application may write again whenever it may, which is as soon as something has
     * failed: that is left for the next turn, or this one would not end.
     *
     * @return whether nothing is left
     */
    static boolean failFlushed(ChannelOutboundBuffer in, Throwable cause) {
        for (int left = in.size(); left > 0 && in.current() != null; left--) {
            in.remove(cause);
        }
        return in.current() == null;
    }

    /** Fails what is in a closed channel's buffer, flushed or not. */
    static void failAll(ChannelOutboundBuffer in, Throwable cause) {
        if (in.totalPendingWriteBytes() == 0) {
            // Netty has done so; such a buffer must not be touched, as its entries are others' by now.
            return;
        }
        in.addFlush();
        while (!in.isEmpty()) {
            in.remove(cause);
        }
    }
}
