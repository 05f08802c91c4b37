// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.lane.LoopLanes;
import io.netty.channel.ChannelPromise;

import java.io.IOException;
import java.net.InetSocketAddress;

/** How a channel comes to its connection: whatever begins an {@link Opening}, and gives it up. */
final class Connecting {

    private final UcxSocketChannel channel;
    private final ChannelSocket socket;
    /** {@code null} unless one is under way. */
    private Opening opening;

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

    /** @throws IOException if the connect has failed at once; then the channel is unconnected again */
    void connect(LoopLanes loop, InetSocketAddress to, ChannelPromise promise) throws IOException {
        connect(loop, to, promise, channel.config().connectMode(), null);
    }

    private void connect(LoopLanes loop, InetSocketAddress to, ChannelPromise promise, UcxConnectMode mode,
                         String plainReason) throws IOException {
        ClientOpening started = new ClientOpening(channel, loop, to, socket.openFor(to.getAddress()), promise, mode,
                plainReason, reason -> connectAgain(loop, to, promise, reason));
        begin(started);
        boolean begun = false;
        try {
            started.start();
            begun = true;
        } finally {
            if (!begun) {
                giveUp();
                socket.close(loop, false);
            }
        }
    }

    /** The server is an ordinary one, and has seen a handshake: with another socket, and what that was bound to. */
    private void connectAgain(LoopLanes loop, InetSocketAddress to, ChannelPromise promise, String reason) {
        giveUp();
        try {
            socket.replace(loop);
            connect(loop, to, promise, UcxConnectMode.PLAIN, reason);
        } catch (IOException | RuntimeException e) {
            channel.connectionMetrics().failed(ClientOpening.reason(e, HandshakeFailure.LOCAL_FAILURE), to, e);
            promise.tryFailure(channel.annotated(e, to));
        }
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

    /** It is over, with a connection or without one. */
    Opening ended() {
        Opening over = opening;
        opening = null;
        return over;
    }

    /** The channel is closed. */
    void cancel() {
        ended().cancel();
    }
}
