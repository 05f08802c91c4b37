// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.ServerHandshake;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.SendBuffer;
import io.netty.buffer.ByteBuf;

import java.util.function.Consumer;

/**
 * The receiving direction of a {@link SocketLane}.
 * <p>
 * <b>When the socket is empty.</b> An edge-triggered event comes for bytes that arrive after the socket was found empty.
 * EAGAIN says that it is, at the price of a system call for each read. A read that got less than it asked for says so,
 * too: the kernel's TCP hands out all it has, up to what was asked for (see epoll(7), question 9). What arrives after
 * that makes a new event, even if it arrives before the call returns. There are three exceptions, in which reading goes
 * on until EAGAIN or the end:
 * <ul>
 * <li>The peer has ended its stream, or reset it: the event for that may have come along with the one for the last bytes,
 * so that none will come for the end.</li>
 * <li>A read stops before and after an urgent byte.</li>
 * <li>What was told before the lane was made is not known.</li>
 * </ul>
 */
final class SocketInput {

    /** EPOLLPRI. */
    static final int URGENT = 2;

    private static final int HANGUP = Epoll.RDHUP | Epoll.HUP | Epoll.ERR;

    /** Bytes are thrown away in pieces of that length, so many in a turn. */
    private static final int DISCARD_LENGTH = 64 * 1024;
    private static final int DISCARDS_PER_TURN = 2;
    /** What a close throws away at most: more than a kernel keeps for a socket, unless it is set up otherwise. */
    private static final int CLOSE_DISCARD_LENGTH = 512 * 1024;
    private static final int CLOSE_DISCARDS = 16;

    private enum State {
        /** Bytes may come. */
        OPEN,
        /** The peer's stream has ended, and nothing of it is left in the kernel. */
        ENDED,
        /** Nobody reads any more: bytes are thrown away. */
        DISCARDING,
        /** The connection is lost, and nothing is left in the kernel. */
        FAILED
    }

    /** What the first bytes may be. */
    private enum Beginning {
        /** Anything, or they have been read. */
        ANY,
        /** No handshake's; none have been seen. */
        UNSEEN,
        /** No handshake's; those that are there may be one's, and more are waited for. */
        AWAITED,
        /** No handshake's; more have been waited for. */
        OVERDUE
    }

    private final SocketLane lane;
    private final KernelSocket socket;
    private final ProgressEngine engine;
    private final Traffic traffic;
    private State state = State.OPEN;
    /** Whether the socket has something, as far as is known. */
    private boolean readable = true;
    /** Whether only EAGAIN or the end tells that the socket is empty. */
    private boolean untilEmpty = true;
    /** Whether the kernel has told that no more bytes will arrive. */
    private boolean hangup;
    /** Whether the peer has ended its stream. */
    private boolean peerEnded;
    private boolean wanted;
    /** Read from the socket before the lane was made, or {@code null}. */
    private ByteBuf first;
    private boolean discardScheduled;
    private Beginning beginning = Beginning.ANY;
    /** For a client that has said too little to tell; {@code null} where the first bytes may be anything. */
    private Consumer<Runnable> grace;
    private final Runnable discardMore = this::discardMore;

    SocketInput(SocketLane lane, KernelSocket socket, ProgressEngine engine, Traffic traffic, ByteBuf first) {
        this.lane = lane;
        this.socket = socket;
        this.engine = engine;
        this.traffic = traffic;
        if (first != null && first.isReadable()) {
            traffic.arrived(first.readableBytes());
            this.first = first;
        } else if (first != null) {
            first.release();
        }
    }

    void refuseHandshake(Consumer<Runnable> grace) {
        beginning = Beginning.UNSEEN;
        this.grace = grace;
    }

    // ------------------------------------------------------------------------------------------- events

    /** @return whether there is news for the listener */
    boolean ready(int events) {
        if ((events & (Epoll.IN | URGENT | HANGUP)) == 0) {
            return false;
        }
        if ((events & (URGENT | HANGUP)) != 0) {
            untilEmpty = true;
        }
        if (state == State.DISCARDING) {
            readable = true;
            throwAway();
            return false;
        }
        if (state != State.OPEN) {
            return false;
        }
        readable = true;
        if ((events & HANGUP) != 0) {
            hangup = true;
            // A reset comes with the same events, and its error has been asked for by now.
            peerEnded |= !lane.isInputCut();
            lookForEnd();
        }
        return true;
    }

    /** Nothing more will arrive, and no event tells of what is there. */
    void connectionLost() {
        hangup = true;
        untilEmpty = true;
        if (state == State.OPEN) {
            readable = true;
        }
    }

    /** An application that does not read is told of the end all the same, but not before the bytes in front of it. */
    void lookForEnd() {
        if (untilEmpty && !wanted && first == null) {
            peek();
        }
    }

    /** Looks whether the end comes next. */
    private void peek() {
        if (readable && state == State.OPEN) {
            // Any memory will do for one byte.
            int found = socket.peek();
            if (found <= 0) {
                emptied(found);
            }
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    void wanted(boolean wanted) {
        this.wanted = wanted;
        if (!wanted && readable && state == State.OPEN && !lane.isClosed()) {
            lookForEnd();
            if (state == State.ENDED) {
                lane.inputNews();
            }
        }
    }

    boolean isReadable() {
        return first != null || readable && state == State.OPEN;
    }

    /** Whether everything has been read, and the end of the peer's stream was next. */
    boolean isAtEnd() {
        return state == State.ENDED && first == null;
    }

    /** Whether the peer's stream, which nobody reads any more, has come to its end. */
    boolean isDiscarded() {
        return state == State.DISCARDING && peerEnded;
    }

    /** Whether the peer has ended its stream, as far as is known. */
    boolean isFinished() {
        return peerEnded;
    }

    ByteBuf read(int limit, Allocation allocation) {
        if (first != null) {
            return readFirst(limit, allocation);
        }
        if (!readable || state != State.OPEN || beginning != Beginning.ANY && !isOrdinary()) {
            return null;
        }
        ByteBuf buffer = allocation.allocate(limit);
        boolean received = false;
        try {
            // The application's allocator may have closed the channel, or shut its input down.
            received = state == State.OPEN && receive(buffer, limit);
        } finally {
            if (!received) {
                buffer.release();
            }
        }
        return received ? buffer : null;
    }

    /** Looks at the first bytes. @return whether they can be read; otherwise there is nothing to read for now, or ever */
    private boolean isOrdinary() {
        SendBuffer first = engine.sendBuffers().acquire();
        try {
            int found = socket.peek(first.address(), ServerHandshake.DECISIVE);
            if (found <= 0) {
                emptied(found);
                return false;
            }
            first.memory().writerIndex(found);
            ServerHandshake.Client client = ServerHandshake.classify(first.memory());
            if (client == ServerHandshake.Client.UNDECIDED && !hangup && beginning != Beginning.OVERDUE) {
                // More bytes make a new event.
                readable = false;
                awaitMore();
                return false;
            }
            beginning = Beginning.ANY;
            if (client == ServerHandshake.Client.UCX) {
                readable = false;
                state = State.FAILED;
                lane.lost(new ProtocolException("the client began its handshake after it had been taken for an ordinary one,"
                        + " because it had said nothing for so long; it has to connect again"), Errno.ECONNRESET);
                return false;
            }
            return true;
        } finally {
            first.release();
        }
    }

    private void awaitMore() {
        if (beginning == Beginning.UNSEEN) {
            beginning = Beginning.AWAITED;
            grace.accept(this::graceOver);
        }
    }

    /** Who has said so little for so long is an ordinary client, unless there is more by now. */
    private void graceOver() {
        if (beginning == Beginning.AWAITED && state == State.OPEN) {
            beginning = Beginning.OVERDUE;
            readable = true;
            lane.inputNews();
        }
    }

    private boolean receive(ByteBuf buffer, int limit) {
        int index = buffer.writerIndex();
        int length = Math.min(limit, buffer.capacity() - index);
        if (length <= 0) {
            throw new IllegalArgumentException("a buffer without room, for a read of up to " + limit + " bytes");
        }
        int received = socket.receive(BufferAddress.of(buffer, index, length), length);
        if (received <= 0) {
            emptied(received);
            return false;
        }
        buffer.writerIndex(index + received);
        received(received, length);
        return true;
    }

    private void received(int received, int attempted) {
        traffic.arrived(received);
        engine.noteSocketWork();
        if (received < attempted) {
            if (!untilEmpty) {
                readable = false;
            } else if (hangup) {
                // The end is next, most likely: a look costs less than a read, which needs a buffer.
                peek();
            }
        }
    }

    /**
     * With what has come behind it: how much of the stream was read together with the handshake is nobody's matter, and a
     * message that came in one piece is handed up in one.
     */
    private ByteBuf readFirst(int limit, Allocation allocation) {
        int length = first.readableBytes();
        if (length > limit) {
            return first.readRetainedSlice(limit);
        }
        ByteBuf all = first;
        if (length < limit && readable && state == State.OPEN) {
            all = allocation.allocate(limit);
            if (first == null) {
                // The application's allocator has closed the channel, or shut its input down.
                all.release();
                return null;
            }
            boolean joined = false;
            try {
                all.writeBytes(first);
                receive(all, limit - length);
                joined = true;
            } finally {
                (joined ? first : all).release();
            }
        }
        first = null;
        return all;
    }

    /** @param result of a call that got no bytes */
    private void emptied(int result) {
        readable = false;
        if (result == -Errno.EAGAIN) {
            untilEmpty = hangup;
        } else if (result == 0) {
            hangup = true;
            peerEnded |= !lane.isInputCut();
            if (state == State.OPEN) {
                state = peerEnded ? State.ENDED : State.FAILED;
            } else if (state == State.DISCARDING) {
                lane.endIfOver();
            }
        } else {
            if (state == State.OPEN) {
                state = State.FAILED;
            }
            lane.lost("recv", -result);
        }
    }

    // ------------------------------------------------------------------------------------------- nobody reads

    /**
     * Throws away what has come and what is to come. A socket that is closed with unread bytes would reset the
     * connection, and the peer might lose what it was sent; and a peer that sends before it reads would wait for ever.
     */
    void discard() {
        releaseFirst();
        if (state == State.OPEN) {
            state = State.DISCARDING;
            throwAway();
        }
    }

    private void discardMore() {
        discardScheduled = false;
        if (state == State.DISCARDING) {
            throwAway();
        }
    }

    private void throwAway() {
        if (!readable || discardScheduled) {
            return;
        }
        for (int left = DISCARDS_PER_TURN; readable && left > 0; left--) {
            int received = socket.discard(DISCARD_LENGTH);
            if (received > 0) {
                received(received, DISCARD_LENGTH);
            } else {
                emptied(received);
            }
        }
        if (readable && !lane.isClosed()) {
            discardScheduled = true;
            engine.schedule(discardMore);
        }
    }

    /**
     * Throws away what has come, before the socket is closed: with unread bytes it would reset the connection, and the
     * kernel would not deliver what it was given to send.
     */
    void discardUnread() {
        if (state != State.OPEN && state != State.DISCARDING) {
            return;
        }
        for (int left = CLOSE_DISCARDS; left > 0 && socket.discard(CLOSE_DISCARD_LENGTH) > 0; left--) {
            // A peer that goes on sending is reset all the same.
        }
    }

    void close() {
        releaseFirst();
        readable = false;
        if (state == State.OPEN || state == State.DISCARDING) {
            state = State.FAILED;
        }
    }

    private void releaseFirst() {
        if (first != null) {
            first.release();
            first = null;
        }
    }
}
