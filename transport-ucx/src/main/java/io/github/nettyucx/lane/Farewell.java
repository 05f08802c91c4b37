// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.SocketWatcher;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.util.Queue;

/**
 * The end of a socket to whose peer this side has said why there will be no connection. If the socket were closed at
 * once, and bytes of the peer's lay in it unread, or came later, the kernel would send a reset, and throw away what the
 * peer has not got yet. So the last words go out first, then the end of the stream, and what comes meanwhile is thrown
 * away until the peer closes as well. The peer may be anybody: he gets so many bytes, and so much time.
 */
public final class Farewell implements SocketWatcher {

    /** How long the peer may take, in milliseconds. Whoever has a clock calls {@link #end()} then. */
    public static final int MILLIS = 1000;

    private static final int MAX_DISCARDED = 256 * 1024;
    private static final int PIECE = 16 * 1024;

    private final LoopLanes loop;
    private final KernelSocket socket;
    private final Queue<ByteBuf> words;
    private boolean said;
    private int discarded;
    private boolean ended;
    /** {@code null} if there is none. */
    private Future<?> timeout;

    /** @param words that were not sent yet; they are released here */
    Farewell(LoopLanes loop, KernelSocket socket, Queue<ByteBuf> words) {
        this.loop = loop;
        this.socket = socket;
        this.words = words;
    }

    /**
     * Sends frames of a handshake, one after the other, and releases those that the kernel has taken.
     *
     * @return 0 if it has taken all of them; otherwise why not, as the negative of an error number
     */
    public static int send(KernelSocket socket, Queue<ByteBuf> frames) {
        for (ByteBuf frame = frames.peek(); frame != null; frame = frames.peek()) {
            int length = frame.readableBytes();
            int sent = socket.send(BufferAddress.of(frame, frame.readerIndex(), length), length);
            if (sent < 0) {
                return sent;
            }
            frame.skipBytes(sent);
            if (sent == length) {
                frames.poll().release();
            }
        }
        return 0;
    }

    /** {@inheritDoc} */
    @Override
    public void socketReady(int events) {
        if (!ended && (!say() || !listen())) {
            end();
        }
    }

    /** @return whether there is a reason to go on */
    private boolean say() {
        int left = send(socket, words);
        if (left < 0) {
            return left == -Errno.EAGAIN;
        }
        if (!said) {
            said = true;
            try {
                socket.shutdown(false, true);
            } catch (IOException e) {
                // Nobody is there any more.
                return false;
            }
        }
        return true;
    }

    /** @return whether there is a reason to go on */
    private boolean listen() {
        while (discarded < MAX_DISCARDED) {
            int received = socket.discard(PIECE);
            if (received <= 0) {
                return received == -Errno.EAGAIN;
            }
            discarded += received;
        }
        return false;
    }

    /** @param timeout of the peer's time, which is cancelled when this ends before */
    public void endedBy(Future<?> timeout) {
        this.timeout = timeout;
    }

    public boolean isOver() {
        return ended;
    }

    /** The peer's time is over. Does nothing if this has ended before. */
    public void end() {
        if (!ended) {
            ended = true;
            if (timeout != null) {
                timeout.cancel(false);
            }
            words.forEach(ByteBuf::release);
            words.clear();
            loop.ended(this);
            loop.engine().unwatch(socket);
            socket.close();
        }
    }
}
