// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.ClientHandshake;
import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.Outcome;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.Errno;
import io.github.nettyucx.socket.KernelRandom;
import io.github.nettyucx.socket.KernelSocket;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A connect: the kernel's, and then the handshake, or none with an ordinary server. */
final class ClientOpening extends Opening {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ClientOpening.class);

    /** How long a server that is asked has to answer; and not more than half of the time to connect in. */
    private static final int ANSWER_MILLIS = ANSWER_SETTING.value();

    /** How long a server that serves ordinary clients waits for the first bytes, if it has been told the same as this process. */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(PLAIN_GRACE_SETTING.value());
    /** How an attempt that comes later ends: the server resets it. What its application has said before may be read first. */
    private static final Set<HandshakeFailure> TOO_LATE = EnumSet.of(HandshakeFailure.CLOSED_BY_PEER,
            HandshakeFailure.CONNECT_FAILED, HandshakeFailure.OTHER_PROGRAM);

    /** How a server ends an attempt that cannot do anything with it. A secret that does not fit is no such end. */
    private static final Set<HandshakeFailure> UNANSWERED = EnumSet.of(HandshakeFailure.CLOSED_BY_PEER,
            HandshakeFailure.CONNECT_FAILED, HandshakeFailure.TIMED_OUT, HandshakeFailure.OTHER_PROGRAM,
            HandshakeFailure.OTHER_PROTOCOL_VERSION, HandshakeFailure.PROTOCOL_VIOLATION);
    /** The same, if it is the server that says so: this side's own shortage tells nothing of the server. */
    private static final Set<HandshakeFailure> UNABLE =
            EnumSet.of(HandshakeFailure.NO_MEMORY, HandshakeFailure.LOCAL_FAILURE);

    /** What is under way. */
    private enum Step {
        CONNECT,
        /** The handshake with a server that takes this transport, or ought to. */
        HANDSHAKE,
        /** The handshake with one that may take this transport: without an answer the connection is made without it. */
        ATTEMPT
    }

    /**
     * How to connect.
     *
     * @param plainReason why {@link UcxConnectMode#PLAIN} is not what was asked for, if it is not
     * @param mayRepeat   whether it may be made once more, if this side was too late for the server
     */
    record Attempt(UcxConnectMode mode, String plainReason, boolean mayRepeat) {
    }

    /** Begins once more. */
    @FunctionalInterface
    interface Again {
        void connect(Attempt next);
    }

    private final InetSocketAddress remote;
    private long begunNanos;
    private final ChannelPromise promise;
    private final Attempt attempt;
    private final UcxConnectMode mode;
    private final Again again;
    private Step step = Step.CONNECT;
    /** The handshake has begun so long after the connect that a server may have taken this client for an ordinary one. */
    private boolean late;

    /** @param socket that is bound already if the channel is */
    ClientOpening(UcxSocketChannel channel, LoopLanes loop, InetSocketAddress remote, KernelSocket socket,
                  ChannelPromise promise, Attempt attempt, Again again) {
        super(channel, loop);
        this.remote = remote;
        this.promise = promise;
        this.socket = socket;
        this.attempt = attempt;
        mode = attempt.mode;
        this.again = again;
    }

    /** The address, if a connection can be made to or from it. */
    static InetSocketAddress checked(SocketAddress address) {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new IllegalArgumentException("address " + address + " is a "
                    + StringUtil.simpleClassName(address) + "; expected an InetSocketAddress");
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }

    /**
     * Why a connect has failed, by what the kernel said: when it was asked, or later.
     *
     * @param otherwise if it says nothing of the network
     */
    static HandshakeFailure reason(Throwable cause, HandshakeFailure otherwise) {
        return cause instanceof NoRouteToHostException ? HandshakeFailure.UNREACHABLE
                : Errno.isConnectTimeout(cause) ? HandshakeFailure.TIMED_OUT
                : cause instanceof ConnectException ? HandshakeFailure.REFUSED : otherwise;
    }

    /** @throws IOException if the connect has failed at once */
    void start() throws IOException {
        if (mode == UcxConnectMode.UCX
                || mode == UcxConnectMode.ANNOUNCED && Neighbours.mayBeAsked(remote, ConfiguredDefaults.NETWORKS)) {
            // The first time that takes long. A server that waits for a client's first bytes does not wait for that.
            LoopLanes.supply(channel.config().laneSet());
        }
        begunNanos = System.nanoTime();
        boolean connected = socket.connect(remote);
        watch();
        int millis = channel.config().getConnectTimeoutMillis();
        if (millis > 0) {
            boundBy(millis);
        }
        promise.addListener(done -> {
            if (done.isCancelled() && !isOver()) {
                channel.unsafe().close(channel.voidPromise());
            }
        });
        if (connected) {
            // Not from here: the caller does not know of this attempt yet.
            loop.engine().schedule(() -> socketReady(Epoll.OUT));
        }
    }

    @Override
    void timedOut(int millis) {
        fail(new ConnectTimeoutException("connection timed out after " + millis + " ms: " + remote),
                HandshakeFailure.TIMED_OUT);
    }

    @Override
    InetSocketAddress remote() {
        return remote;
    }

    /** {@inheritDoc} It may have been cancelled while it was connecting. */
    @Override
    boolean succeed() {
        return promise.trySuccess();
    }

    @Override
    void told(IOException cause) {
        promise.tryFailure(naming(cause));
        channel.unsafe().close(channel.voidPromise());
    }

    /** The cause, saying to whom the connection was to be made. */
    private Throwable naming(IOException cause) {
        if (cause instanceof HandshakeException failed) {
            return new HandshakeException(failed.reason(), cause.getMessage() + ": " + remote, cause);
        }
        return cause instanceof ConnectTimeoutException ? cause : channel.annotated(cause, remote);
    }

    @Override
    void cancelled(ClosedChannelException cause) {
        promise.tryFailure(cause);
    }

    @Override
    void ready(int events) throws IOException {
        if (step == Step.CONNECT) {
            if ((events & (Epoll.OUT | Epoll.ERR | Epoll.HUP)) == 0) {
                return;
            }
            try {
                if (!socket.finishConnect()) {
                    return;
                }
            } catch (IOException e) {
                fail(e, reason(e, HandshakeFailure.CONNECT_FAILED));
                return;
            }
            connected();
        } else {
            flush();
        }
        if (!isOver()) {
            receive();
        }
    }

    private void connected() throws IOException {
        heard();
        channel.local = socket.localAddress();
        InetSocketAddress peer = socket.remoteAddress();
        // The application's has the host's name, which some look up, and others would ask the resolver for.
        channel.remote = remote.equals(peer) ? remote : peer;
        String reason = mode != UcxConnectMode.ANNOUNCED ? attempt.plainReason
                : Neighbours.reasonNotToAsk(channel.remote, channel.local, ConfiguredDefaults.NETWORKS);
        if (mode == UcxConnectMode.PLAIN || reason != null) {
            openPlain(reason);
            return;
        }
        step = Step.HANDSHAKE;
        if (mode == UcxConnectMode.ANNOUNCED) {
            step = Step.ATTEMPT;
            boundByAnswer();
        } else if (channel.config().getConnectTimeoutMillis() == 0) {
            // No limit is for the kernel's connect, which ends by itself. A server that accepts and says nothing does not.
            boundBy(channel.config().getHandshakeTimeoutMillis());
        }
        ClientHandshake started = new ClientHandshake(terms(), loop.links(), this, KernelRandom::fill);
        handshake = started;
        late = System.nanoTime() - begunNanos >= LATE_NANOS;
        started.start();
    }

    private void boundByAnswer() {
        int limit = channel.config().getConnectTimeoutMillis();
        boundBy(limit > 0 ? Math.min(ANSWER_MILLIS, Math.max(1, limit / 2)) : ANSWER_MILLIS);
    }

    /** The next attempt has the time to connect in for itself. */
    @Override
    boolean isTriedAgain(IOException cause, HandshakeFailure reason) {
        if (mode != UcxConnectMode.ANNOUNCED || step == Step.CONNECT || promise.isDone()) {
            return false;
        }
        boolean answered = handshake != null && ((ClientHandshake) handshake).isAnswered();
        boolean tooLate = answered ? reason == HandshakeFailure.CLOSED_BY_PEER : late && TOO_LATE.contains(reason);
        Attempt next;
        if (tooLate && attempt.mayRepeat
                && (answered || Neighbours.isOrMayBeAnnounced(channel.remote, channel.local))) {
            logger.debug("The connection to {} is begun once more: the server did not wait. {}", remote, cause.getMessage());
            next = new Attempt(mode, null, false);
        } else if (!answered && isServers(cause, reason)) {
            String told = "the server did not answer as one of this transport: " + cause.getMessage();
            notAnswered(told, tooLate || reason == HandshakeFailure.TIMED_OUT);
            next = new Attempt(UcxConnectMode.PLAIN, told, false);
        } else {
            return false;
        }
        close();
        again.connect(next);
        return true;
    }

    /** Other connections, too, are ordinary ones for a while, which is said once in that while. */
    private void notAnswered(String told, boolean excused) {
        InternalLogLevel level = Neighbours.isSilent(channel.remote) ? InternalLogLevel.DEBUG : InternalLogLevel.INFO;
        long seconds = Neighbours.hasNotAnswered(channel.remote, channel.local, excused);
        logger.log(level, "Connections to {} are ordinary ones for {} s: {}", remote, seconds, told);
    }

    /** {@inheritDoc} A loop that is late may not have looked yet. */
    @Override
    public boolean isEnded() {
        int next = socket.peek();
        return next == 0 || next < 0 && next != -Errno.EAGAIN;
    }

    private static boolean isServers(IOException cause, HandshakeFailure reason) {
        return UNANSWERED.contains(reason)
                || UNABLE.contains(reason) && cause instanceof HandshakeException failed && failed.ofPeer();
    }

    @Override
    void received() {
        if (handshake == null) {
            return;
        }
        handshake.received(in);
        if (step == Step.ATTEMPT && !isOver() && ((ClientHandshake) handshake).isAnswered()) {
            // Now it is one of this transport. What it takes from here on says nothing else.
            step = Step.HANDSHAKE;
            boundByRest();
        }
    }

    private void boundByRest() {
        int limit = channel.config().getConnectTimeoutMillis();
        if (limit > 0) {
            boundByRest(limit, begunNanos);
        } else {
            boundBy(channel.config().getHandshakeTimeoutMillis());
        }
    }

    @Override
    void ended() {
        fail(new ConnectException("Connection closed by the peer during the handshake"),
                HandshakeFailure.CLOSED_BY_PEER);
    }

    @Override
    Lane lane(Outcome outcome) {
        if (outcome.lane() == LaneKind.SOCKET) {
            return loop.socketLane(socket, channel.traffic(), takeRest());
        }
        return loop.linkLane(outcome.lane(), outcome.link(), outcome.peer(), socket, limits, stash(channel),
                channel.traffic());
    }
}
