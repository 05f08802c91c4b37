// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

import java.io.IOException;
import java.net.SocketException;
import java.util.List;
import java.util.function.Consumer;

/**
 * The channel's bytes on the control socket itself: the kernel's TCP, as Netty's epoll transport has it.
 * <p>
 * The socket is watched edge-triggered, with {@link #INTEREST}: the kernel tells a change once, and the lane remembers
 * what it was told until a call says otherwise. So a read and a write cost one system call each while the socket keeps
 * up, and the loop's epoll instance is changed for none of them.
 */
public final class SocketLane implements Lane {

    /** Events that the lane has to be told of by {@link #socketReady}. Urgent ones say that a read may stop early. */
    public static final int INTEREST = Epoll.IN | SocketInput.URGENT | Epoll.OUT | Epoll.RDHUP | Epoll.EDGE;

    private static final String NAME = "socket";
    private static final List<String> TRANSPORTS = List.of(NAME);

    private final KernelSocket socket;
    private final SocketInput input;
    private final SocketOutput output;
    private LaneListener listener;
    private boolean closed;
    private IOException failure;
    private int failureErrno;
    /** What {@link KernelSocket#unansweredMillis} said when it was last asked. */
    private int silentBefore = -1;

    /**
     * @param firstBytes that have been read from the socket already and belong to the stream; the lane owns them, and
     *                   they are read before anything else; may be {@code null} or empty
     */
    public SocketLane(KernelSocket socket, ProgressEngine engine, Traffic traffic, ByteBuf firstBytes) {
        this.socket = socket;
        input = new SocketInput(this, socket, engine, traffic, firstBytes);
        output = new SocketOutput(this, socket, engine, traffic);
    }

    /**
     * Nothing has been read of a client that is taken for an ordinary one. If it begins a handshake all the same, the
     * connection fails: the client has been slow, and its handshake is nothing for the application. It learns from the
     * reset that it has to connect in another way.
     *
     * @param grace runs what it is given, on the loop, when a client that has said too little to tell has had its time
     */
    public void refuseHandshake(Consumer<Runnable> grace) {
        input.refuseHandshake(grace);
    }

    // ------------------------------------------------------------------------------------------- identity

    @Override
    public LaneKind kind() {
        return LaneKind.SOCKET;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> transports() {
        return TRANSPORTS;
    }

    // ------------------------------------------------------------------------------------------- events

    /**
     * {@inheritDoc}
     * <p>
     * What the kernel told before is not known to the lane, so it looks once. Its listener hears of a
     * connection that is lost, and asks for the rest.
     */
    @Override
    public void listener(LaneListener listener) {
        assert this.listener == null;
        input.lookForEnd();
        this.listener = listener;
        if (failure != null) {
            listener.lost(failure);
        }
    }

    /** {@inheritDoc} May call the listener. */
    @Override
    public void socketReady(int events) {
        if (closed) {
            return;
        }
        if ((events & Epoll.ERR) != 0) {
            failed(socket.pendingError());
        }
        boolean moreOutput = output.ready(events);
        boolean moreInput = input.ready(events);
        if (moreOutput) {
            listener.outputReady();
        }
        if (moreInput) {
            inputNews();
        }
    }

    @Override
    public void faulted(Throwable cause) {
        if (listener != null) {
            listener.faulted(cause);
        }
    }

    void inputNews() {
        if (!closed && listener != null) {
            listener.inputReady();
        }
    }

    /**
     * What the socket has to tell about itself, other than by a call that failed.
     * <p>
     * A broken pipe is a peer that has ended its stream and takes nothing more. That is no failure before this side
     * sends again: the stream came to its end.
     */
    private void failed(int errno) {
        if (errno != 0 && errno != Errno.EPIPE) {
            lost("connection", errno);
        }
    }

    /** A call has failed for good. What has arrived can still be read. */
    void lost(String call, int errno) {
        lost(Errno.exception(call, errno), errno);
    }

    /** @param errno what that is like */
    void lost(IOException cause, int errno) {
        if (failure != null || closed) {
            return;
        }
        failure = cause;
        failureErrno = errno;
        output.fail();
        input.connectionLost();
        if (listener != null) {
            listener.lost(failure);
        }
    }

    /** Whether the peer's stream has not been brought to its end, although nothing more will come. */
    boolean isInputCut() {
        return failure != null && failureErrno != Errno.EPIPE;
    }

    // ------------------------------------------------------------------------------------------- input

    @Override
    public boolean isReadable() {
        return input.isReadable();
    }

    @Override
    public ByteBuf read(int limit, Allocation allocation) {
        return input.read(limit, allocation);
    }

    @Override
    public boolean isAtEnd() {
        return input.isAtEnd();
    }

    @Override
    public boolean isInputFinished() {
        return input.isFinished();
    }

    @Override
    public void wanted(boolean wanted) {
        input.wanted(wanted);
    }

    /**
     * {@inheritDoc} The socket's own receiving side stays open: a kernel accepts bytes after it has been shut down, too,
     * and does not tell of the peer's end any more.
     */
    @Override
    public void discardInput() {
        input.discard();
    }

    // ------------------------------------------------------------------------------------------- output

    @Override
    public Written write(ChannelOutboundBuffer in, int spins) throws Exception {
        return output.write(in, spins);
    }

    @Override
    public void resume(ChannelOutboundBuffer in) {
        output.resume(in);
    }

    /** Nothing: a promise is done when the kernel has the bytes. */
    @Override
    public void complete(ChannelOutboundBuffer in) {
        // See above.
    }

    @Override
    public void finish(boolean readsNoMore) {
        output.finish();
        endIfOver();
    }

    /** Neither side has anything more to say, and nobody would be told of the end by a read. */
    void endIfOver() {
        if (output.isFinished() && input.isDiscarded() && failure == null && !closed) {
            failure = new SocketException("Connection closed by both sides");
            if (listener != null) {
                listener.lost(failure);
            }
        }
    }

    @Override
    public boolean isOutputOpen() {
        return output.isOpen();
    }

    /** {@inheritDoc} The kernel goes on by itself, even after the socket has been closed. */
    @Override
    public boolean isEndDelivered() {
        return output.isFinished();
    }

    /** {@inheritDoc} What the kernel has, it delivers by itself. */
    @Override
    public boolean mustLinger(boolean drained) {
        return !drained && isOpen() && output.isOpen();
    }

    @Override
    public boolean isIdle() {
        return true;
    }

    @Override
    public boolean isOpen() {
        return failure == null && !closed;
    }

    /** {@inheritDoc} A socket cannot say. */
    @Override
    public boolean peerReads() {
        return true;
    }

    @Override
    public long moved() {
        return output.moved();
    }

    /**
     * {@inheritDoc}
     * <p>
     * The kernel itself would go on for a quarter of an hour. Its own limit, {@code TCP_USER_TIMEOUT}, also ends
     * connections to hosts that answer, but whose process does not read. The silence has to have grown since it was asked
     * last: a living host's answer to what the kernel has asked just now may be on its way.
     */
    @Override
    public boolean checkPeer(int millis) {
        if (!isOpen()) {
            return false;
        }
        int before = silentBefore;
        silentBefore = socket.unansweredMillis();
        if (before >= 0 && silentBefore > before && silentBefore >= millis) {
            lost("connection", Errno.ETIMEDOUT);
            // No event tells of it.
            input.lookForEnd();
            return false;
        }
        return socket.unsent() > 0;
    }

    /** Nothing: the kernel's window opens by itself. */
    @Override
    public void settle() {
        // See above.
    }

    // ------------------------------------------------------------------------------------------- the end

    @Override
    public IOException failure() {
        return failure;
    }

    @Override
    public CloseReason closeReason() {
        boolean inputFinished = input.isFinished();
        if (failure != null && !inputFinished) {
            return isReset(failureErrno) ? CloseReason.RESET_BY_PEER : CloseReason.LOST;
        }
        return inputFinished || output.isFinished() ? CloseReason.ORDERLY : CloseReason.ABORTED;
    }

    private static boolean isReset(int errno) {
        return errno == Errno.ECONNRESET || errno == Errno.EPIPE || errno == Errno.ECONNABORTED;
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        if (!reset) {
            input.discardUnread();
        }
        input.close();
        output.close();
        if (reset) {
            try {
                socket.resetOnClose();
            } catch (IOException e) {
                // Then it has been reset already.
            }
        }
    }
}
