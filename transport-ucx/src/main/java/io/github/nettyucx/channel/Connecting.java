// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;

/** How a channel comes to its connection: it begins an {@link Opening}, gives it up, and takes what comes out of it. */
final class Connecting {

    private final UcxSocketChannel channel;
    private final ChannelSocket socket;
    /** {@code null} unless one is under way. */
    private Opening opening;
    /** The application has asked for a read while there was nothing to read from. */
    private boolean readPending;

    Connecting(UcxSocketChannel channel, ChannelSocket socket) {
        this.channel = channel;
        this.socket = socket;
    }

    boolean isUnderWay() {
        return opening != null;
    }

    /** A server has accepted the socket; the channel is registered with its loop. */
    void accepted(LoopLanes loop) throws IOException {
        ServerOpening started = new ServerOpening(channel, loop, socket.configured());
        begin(started);
        started.start();
    }

    /** @throws IOException if the connect has failed at once; then the channel is closed, which Netty has yet to be told */
    void connect(LoopLanes loop, InetSocketAddress to, ChannelPromise promise) throws IOException {
        connect(loop, to, promise, new ClientOpening.Attempt(channel.config().connectMode(), null, true));
    }

    private void connect(LoopLanes loop, InetSocketAddress to, ChannelPromise promise, ClientOpening.Attempt attempt)
            throws IOException {
        try {
            ClientOpening started = new ClientOpening(channel, loop, to, socket.openFor(to.getAddress()), promise, attempt,
                    next -> connectAgain(loop, to, promise, next));
            begin(started);
            started.start();
        } catch (Throwable t) {
            giveUp();
            closeUnconnected();
            throw t;
        }
    }

    /** The server has ended a handshake: with another socket, and what that was bound to. */
    private void connectAgain(LoopLanes loop, InetSocketAddress to, ChannelPromise promise, ClientOpening.Attempt next) {
        giveUp();
        try {
            socket.replace(loop);
            connect(loop, to, promise, next);
        } catch (Throwable t) {
            closeUnconnected();
            channel.connectionMetrics().failed(ClientOpening.reason(t, HandshakeFailure.LOCAL_FAILURE), to, t);
            promise.tryFailure(channel.annotated(t, to));
            channel.unsafe().close(channel.voidPromise());
        }
    }

    /**
     * A channel that has failed to connect is closed, as one of Netty's other transports is: an application that connects
     * without a bootstrap does not close it, and counts on that. It is, before anybody is told of the failure.
     */
    private void closeUnconnected() {
        // The peer of a handshake is told by an orderly end, and not by the reset that SO_LINGER can ask for.
        channel.closeSocket(false);
        channel.doClose();
    }

    /** The accepted socket cannot be used. The channel goes on to be registered, and then it is as after a failed opening. */
    void acceptedInVain(InetSocketAddress remote, IOException cause) {
        giveUp();
        channel.connectionMetrics().failed(HandshakeFailure.LOCAL_FAILURE, remote, cause);
        channel.become(ChannelState.CONNECTING);
        channel.eventLoop().execute(this::closeUnopened);
    }

    private void begin(Opening started) {
        opening = started;
        channel.become(ChannelState.CONNECTING);
    }

    /** Forgets what could not be begun, if there is anything: the channel is unconnected again. */
    void giveUp() {
        if (opening != null) {
            opening.close();
            opening = null;
            channel.become(ChannelState.UNCONNECTED);
        }
    }

    /** The application wants to read as soon as there is something to read from. */
    void beginRead() {
        readPending = true;
    }

    boolean isReadPending() {
        return readPending;
    }

    void cancelRead() {
        readPending = false;
    }

    // ------------------------------------------------------------------------------------------- how it ends

    /**
     * The connection is made.
     *
     * @param reasons       why no better lane was taken
     * @param silenceMillis that the peer's host may be silent for, as far as the lane has to see to it; 0 for no limit
     * @param events        of the control socket so far
     */
    void opened(Lane lane, List<String> reasons, int silenceMillis, int events) {
        Opening over = ended();
        OpenConnection made = new OpenConnection(channel, lane, over.loop, silenceMillis, channel.writes());
        channel.has(made);
        if (channel.isDeclined()) {
            channel.closing().opened(made);
            lingers(lane, events);
            return;
        }
        channel.become(ChannelState.ACTIVE);
        channel.wasActive = true;
        // Whoever observes connections may close this one.
        OrderlyExit.add(channel);
        channel.connectionMetrics().opened(reasons);
        if (readPending) {
            readPending = false;
            made.input().beginRead();
        }
        boolean wanted = over.succeed();
        channel.pipeline().fireChannelActive();
        channel.halfClose.opened();
        if (!wanted) {
            channel.unsafe().close(channel.voidPromise());
        }
        if (channel.isReading()) {
            lane.socketReady(events);
            // What was flushed meanwhile, and what came while a read was pending.
            channel.continueWriting();
            made.input().arrived();
        } else {
            // The application has closed it as soon as it was told of it.
            lingers(lane, events);
        }
    }

    /** The peer may have gone with its last word, which is not told again: then a closed channel does not wait for it. */
    private void lingers(Lane lane, int events) {
        if (channel.isLingering()) {
            lane.socketReady(events);
        }
    }

    /** The connection is made, and cannot be used. */
    void openedInVain(Lane lane, Throwable cause) {
        if (channel.connection() == null) {
            lane.close(false);
            channel.connectionMetrics().failed(HandshakeFailure.LOCAL_FAILURE, channel.remote, cause);
        }
        channel.faulted(cause);
    }

    /**
     * There is no connection.
     *
     * @param lastWords what the peer is still to be told, or {@code null} if there is nothing to be told
     */
    void failed(Queue<ByteBuf> lastWords) {
        Opening over = ended();
        if (lastWords != null) {
            socket.bidFarewell(over.loop, lastWords, channel.eventLoop());
        }
        if (channel.isDeclined()) {
            channel.closeSocket(false);
            channel.closing().cut();
        } else if (channel.isAccepted()) {
            // See closeUnopened.
            channel.closeSocket(false);
        } else {
            closeUnconnected();
        }
    }

    /**
     * There will be no connection: closes the channel, if it is not closed. An accepted one that the application has not
     * closed is active before, for a moment. So is a socket whose peer has gone, and an application may undo in
     * channelInactive what it has done when it was given the channel.
     */
    void closeUnopened() {
        try {
            if (channel.isBeingAccepted()) {
                channel.become(ChannelState.PASSING);
                channel.wasActive = true;
                channel.pipeline().fireChannelActive();
            }
        } finally {
            channel.unsafe().close(channel.voidPromise());
        }
    }

    private Opening ended() {
        Opening over = opening;
        opening = null;
        return over;
    }

    /** The channel is closed. */
    void cancel() {
        ended().cancel();
    }
}
