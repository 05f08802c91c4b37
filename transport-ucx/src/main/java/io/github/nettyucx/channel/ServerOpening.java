// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.handshake.ServerHandshake;
import io.github.nettyucx.handshake.Terms;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.lane.ServingLinks;
import io.github.nettyucx.lane.SocketLane;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** An accepted connection, until it is known who the client is and what carries the bytes. */
final class ServerOpening extends Opening {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ServerOpening.class);

    /** Told to a client that asks for more than the socket. */
    private static final String CLOSED = "the server has closed the channel";
    private static final String ORDINARY_CLIENT = "the client is an ordinary one";

    private final ServingLinks links;
    /** Whether the first turn has come. */
    private boolean begun;
    /** Whether the client cannot be one of this transport. */
    private boolean ordinary;
    /** The time for a client that has said nothing, or too little to tell what it is. */
    private Future<?> grace;
    /** Whether the client has said too little to tell what it is. */
    private boolean hesitant;

    ServerOpening(UcxSocketChannel channel, LoopLanes loop, KernelSocket socket) {
        super(channel, loop);
        this.socket = socket;
        links = loop.servingLinks(socket, stash(channel), channel.traffic());
    }

    /** The rest is done in the loop's next turn: the channel's {@code initChannel}, which can set options, comes before. */
    void start() throws IOException {
        watch();
        loop.engine().schedule(() -> socketReady(0));
    }

    private void begin() {
        begun = true;
        ordinary = plainPeers() == UcxPlainPeers.NEIGHBOURS
                && !Neighbours.mayAsk(channel.remote, channel.local, ConfiguredDefaults.NETWORKS);
        if (ordinary) {
            return;
        }
        boundBy(channel.config().getHandshakeTimeoutMillis());
        if (servesSilent()) {
            grace = afterGrace(this::graceOver);
        }
    }

    private Future<?> afterGrace(Runnable action) {
        return afterGrace(channel, action);
    }

    private static Future<?> afterGrace(UcxSocketChannel channel, Runnable action) {
        return channel.eventLoop().schedule(action, channel.config().getPlainGraceMillis(), TimeUnit.MILLISECONDS);
    }

    /** Static, as the {@link #stash} is. */
    private static Consumer<Runnable> grace(UcxSocketChannel channel) {
        return action -> afterGrace(channel, action);
    }

    /** As it is when it is needed, which may be another than at the start. */
    private UcxPlainPeers plainPeers() {
        return channel.config().plainPeersOrDefault();
    }

    /** Whether a client that says nothing is served. */
    private boolean servesSilent() {
        return plainPeers() == UcxPlainPeers.ALL || plainPeers() == UcxPlainPeers.NEIGHBOURS;
    }

    @Override
    void timedOut(int millis) {
        String missing = limits == null ? "no HELLO" : "no end of the handshake";
        fail(new ConnectTimeoutException(missing + " from " + remote() + " within " + millis + " ms"),
                HandshakeFailure.TIMED_OUT);
    }

    private void graceOver() {
        // A loop that is late may not have looked yet.
        socketReady(Epoll.IN);
        if (!isOver() && !hasSpoken() && servesSilent()) {
            openSilent();
        }
    }

    /** A client that has said nothing is served, and may turn out to be none that is to be served so. */
    private void openSilent() {
        SocketLane lane = loop.socketLane(socket, channel.traffic(), takeRest());
        lane.refuseHandshake(grace(channel));
        openPlain(ORDINARY_CLIENT, lane);
    }

    /** What has come may be the beginning of a HELLO, which comes in one piece as a rule: more of it is not far. */
    private void awaitMore() {
        if (hesitant || plainPeers() == UcxPlainPeers.REFUSE) {
            return;
        }
        hesitant = true;
        cancelGrace();
        grace = afterGrace(this::hesitationOver);
    }

    private void hesitationOver() {
        // A loop that is late may not have looked yet.
        socketReady(Epoll.IN);
        if (!isOver() && handshake == null && plainPeers() != UcxPlainPeers.REFUSE) {
            openPlain(ORDINARY_CLIENT);
        }
    }

    private void cancelGrace() {
        if (grace != null) {
            grace.cancel(false);
        }
    }

    private boolean hasSpoken() {
        return handshake != null || in != null && in.isReadable();
    }

    @Override
    InetSocketAddress remote() {
        return channel.remote;
    }

    @Override
    void ready(int events) throws IOException {
        if (!begun) {
            begin();
        }
        if (ordinary) {
            openSilent();
        } else if (events != 0) {
            flush();
            receive();
        }
    }

    @Override
    void received() {
        if (handshake == null) {
            switch (ServerHandshake.classify(in)) {
                case UNDECIDED -> {
                    awaitMore();
                    return;
                }
                case PLAIN -> {
                    plain();
                    return;
                }
                default -> handshake = new ServerHandshake(this::announced, links, this, KernelRandom::fill);
            }
        }
        if (channel.isDeclined()) {
            links.refuse(CLOSED);
        }
        handshake.received(in);
    }

    /** A client that is declined, by a filter of addresses say, is only to see the end: for that the socket is enough. */
    private Terms announced() {
        long start = System.nanoTime();
        Terms terms = channel.isDeclined() ? terms().withSocketAlone(CLOSED) : terms();
        // What this side has taken to get ready, which with its first connection can be long, is not the client's time.
        prolong(System.nanoTime() - start);
        links.limits(limits);
        return terms;
    }

    private void plain() {
        if (plainPeers() == UcxPlainPeers.REFUSE) {
            failed(new HandshakeException(HandshakeFailure.PLAIN_REFUSED, "the client's first bytes are no handshake of"
                    + " this transport, and ordinary clients are refused here; see UcxChannelOption.PLAIN_PEERS"));
        } else {
            openPlain(ORDINARY_CLIENT);
        }
    }

    @Override
    void ended() {
        if (handshake == null && (servesSilent()
                || plainPeers() == UcxPlainPeers.SPEAKING && hasSpoken())) {
            // A client that has said all that it wants to, which may be nothing.
            openPlain(ORDINARY_CLIENT);
        } else {
            fail(new ConnectException("Connection closed by the peer during the handshake"),
                    HandshakeFailure.CLOSED_BY_PEER);
        }
    }

    @Override
    boolean succeed() {
        return true;
    }

    @Override
    void told(IOException cause) {
        logger.debug("Closed a connection from {} before it was open: {}", remote(), cause.getMessage());
        channel.connecting().closeUnopened();
    }

    @Override
    void cancelled(ClosedChannelException cause) {
        // Nobody waits for it.
    }

    @Override
    Lane lane(Outcome outcome) {
        if (outcome.lane() == LaneKind.SOCKET) {
            return loop.socketLane(socket, channel.traffic(), takeRest());
        }
        return links.take(outcome.lane(), outcome.link(), outcome.peer());
    }

    @Override
    void ended(boolean successful) {
        links.close();
        cancelGrace();
    }
}
