// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.IoVector;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;

import java.io.IOException;

/**
 * The sending direction of a {@link SocketLane}. What the kernel takes is removed from the channel's buffer at once, and
 * its promises are done; the rest stays there.
 * <p>
 * A send that took less than it was given says, as EAGAIN does, that the kernel's buffer is full, and that an event will
 * come when there is room again: TCP notes in both cases that somebody waits for it.
 */
final class SocketOutput extends FlushedOutput {

    /** Bytes that one call is given, at first, and at least and at most. */
    private static final int SHARE = 1024 * 1024;
    private static final int MIN_SHARE = 16 * 1024;
    private static final int MAX_SHARE = 4 * 1024 * 1024;

    private enum State {
        /** Bytes can be sent. */
        OPEN,
        /** This side's stream has ended. */
        FINISHED,
        /** The connection is lost, or has been closed. */
        FAILED
    }

    private final SocketLane lane;
    private final KernelSocket socket;
    private final ProgressEngine engine;
    private final Traffic traffic;
    private final SocketGathering gathering;
    /** Made for the first file. */
    private SocketFile file;
    private State state = State.OPEN;
    /** Whether the kernel takes bytes, as far as is known. */
    private boolean writable = true;
    /** Bytes for the next call: follows what the kernel takes. */
    private int share = SHARE;
    /** Bytes that the kernel has taken. */
    private long taken;

    SocketOutput(SocketLane lane, KernelSocket socket, ProgressEngine engine, Traffic traffic) {
        this.lane = lane;
        this.socket = socket;
        this.engine = engine;
        this.traffic = traffic;
        gathering = new SocketGathering(engine.sendBuffers());
    }

    // ------------------------------------------------------------------------------------------- events

    /** @return whether there is news for the listener */
    boolean ready(int events) {
        if (writable || state != State.OPEN || (events & (Epoll.OUT | Epoll.HUP | Epoll.ERR)) == 0) {
            return false;
        }
        writable = true;
        return true;
    }

    // ------------------------------------------------------------------------------------------- writing

    Written write(ChannelOutboundBuffer in, int spins) throws Exception {
        if (writing) {
            // From a listener of a promise that the loop below has just completed; the loop sees the new messages.
            return Written.WAITING;
        }
        writing = true;
        try {
            return writeSome(in, spins);
        } finally {
            gathering.clear();
            writing = false;
        }
    }

    @Override
    void forgetGathered() {
        gathering.clear();
    }

    private Written writeSome(ChannelOutboundBuffer in, int spins) throws Exception {
        for (int left = spins; ; left--) {
            Object message = in.current();
            if (message == null) {
                return Written.DRAINED;
            }
            if (state != State.OPEN || !writable) {
                return Written.WAITING;
            }
            if (left <= 0) {
                return Written.AGAIN;
            }
            if (message instanceof FileRegion region) {
                if (!file().write(in, region)) {
                    return Written.AGAIN;
                }
            } else {
                writeBuffers(in);
            }
        }
    }

    private void writeBuffers(ChannelOutboundBuffer in) throws Exception {
        IoVector vector = engine.ioVector();
        gathering.gather(in, vector, share);
        int attempted = gathering.length();
        if (attempted == 0) {
            // Nothing but empty buffers.
            remove(in, 0);
            return;
        }
        int sent = gathering.count() == 1 ? socket.send(gathering.address(), attempted)
                : (int) socket.sendVector(vector, gathering.count());
        int copied = gathering.copied();
        gathering.clear();
        if (sent(sent, "send")) {
            if (copied > 1) {
                traffic.gathered(copied);
            }
            adapt(attempted, sent);
            writable = sent == attempted;
            remove(in, sent);
        }
    }

    /**
     * Takes note of a call's result.
     *
     * @return whether bytes have been sent
     */
    boolean sent(int result, String call) {
        if (result > 0) {
            taken += result;
            traffic.sent(result);
            engine.noteSocketWork();
            return true;
        }
        writable = false;
        if (result < 0 && result != -Errno.EAGAIN) {
            lane.lost(call, -result);
        }
        return false;
    }

    /** As Netty does it: what does not fit costs time to lay out, and again the next time. */
    private void adapt(int attempted, int sent) {
        if (attempted == sent) {
            if (attempted > share / 2) {
                share = Math.min(attempted * 2, MAX_SHARE);
            }
        } else if (sent < attempted / 2) {
            share = Math.max(attempted / 2, MIN_SHARE);
        }
    }

    private SocketFile file() {
        if (file == null) {
            file = new SocketFile(this, socket, engine);
        }
        return file;
    }

    // ------------------------------------------------------------------------------------------- the end

    void finish() {
        if (state != State.OPEN) {
            return;
        }
        state = State.FINISHED;
        releaseFile();
        try {
            socket.shutdown(false, true);
        } catch (IOException e) {
            // Not connected any more, which a read will tell.
        }
    }

    void fail() {
        if (state == State.OPEN) {
            state = State.FAILED;
        }
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    boolean isFinished() {
        return state == State.FINISHED;
    }

    /** Bytes that have left the kernel's buffer, as the peer has acknowledged them. */
    long moved() {
        int unsent = lane.isOpen() ? socket.unsent() : 0;
        return taken - Math.max(0, unsent);
    }

    void close() {
        fail();
        releaseFile();
    }

    private void releaseFile() {
        if (file != null) {
            file.release();
        }
    }
}
