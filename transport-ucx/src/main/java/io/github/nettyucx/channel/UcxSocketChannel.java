// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;

/**
 * A {@link SocketChannel} whose bytes travel over the fastest lane that the two sides share: RDMA, shared memory, or the
 * kernel's TCP. Use it with a {@link UcxEventLoopGroup}, or with a {@code UcxIoHandler} on Netty 4.2.
 * <p>
 * The threads' rules are Netty's: every method may be called from any thread.
 */
public final class UcxSocketChannel extends AbstractUcxStreamChannel implements CountedChannel {

    private enum State {
        /** Neither connected nor connecting. */
        UNCONNECTED,
        /** The socket connects, or the handshake is under way: see {@link Opening}. */
        CONNECTING,
        /** Bytes flow, by a {@link Lane}. */
        ACTIVE,
        /** Closed by the application; what was flushed before is being delivered: see {@link Linger}. */
        LINGERING,
        /** Closed before it was open, and so never active; the peer is to see an orderly end. */
        DECLINING,
        CLOSED
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxSocketChannel.class);

    private static final String BELONGS_TO_LOOP = "a UCX connection cannot leave its event loop, because its lane"
            + " belongs to the loop; close the channel, or keep it registered";

    private final UcxSocketChannelConfig config = new UcxSocketChannelConfig(this);
    /** Whether a server has accepted it. */
    private final boolean accepted;
    private volatile State state = State.UNCONNECTED;

    private final ControlSocket socket;
    private LoopLanes loop;
    /** While the channel connects. */
    private Opening opening;
    /** From then on, with its two directions. */
    private Lane lane;
    private ChannelInput input;
    private ChannelOutput output;
    private Linger linger;
    private int channelId;
    /** The channel's loop looks at it no more: a close must not wait. */
    private boolean abandoned;
    /** The application has asked for a read while there was nothing to read from. */
    private boolean readBeforeConnect;
    /** Netty's, which takes it from the channel when that closes; {@code null} if it is empty for good. */
    private ChannelOutboundBuffer writes;
    private final ConnectionMetrics metrics = new ConnectionMetrics(this);

    public UcxSocketChannel() {
        super(null);
        accepted = false;
        socket = new ControlSocket(config.socketOptions(), null);
    }

    /** @param socket that a server has accepted */
    UcxSocketChannel(Channel parent, KernelSocket socket, InetSocketAddress local, InetSocketAddress remote) {
        super(parent);
        accepted = true;
        this.socket = new ControlSocket(config.socketOptions(), socket);
        this.local = local;
        this.remote = remote;
    }

    // ------------------------------------------------------------------------------------------- as Netty sees it

    @Override
    public UcxSocketChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        State now = state;
        return now == State.ACTIVE || now == State.LINGERING;
    }

    /** What has gone over this connection so far. */
    public UcxTraffic metrics() {
        return new UcxTraffic(List.of(metrics.traffic()));
    }

    Traffic traffic() {
        return metrics.traffic();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new UcxSocketUnsafe();
    }

    // ------------------------------------------------------------------------------------------- opening

    @Override
    public void countBy(LoopCounters counters) {
        metrics.countBy(counters);
    }

    @Override
    protected void doRegister() throws Exception {
        super.doRegister();
        writes = unsafe().outboundBuffer();
        if (accepted && state == State.UNCONNECTED) {
            try {
                loop = loopLanes();
                ServerOpening started = new ServerOpening(this, loop, socket.configured());
                opening = started;
                state = State.CONNECTING;
                started.start();
            } catch (IOException e) {
                // The client has gone, perhaps. A failed registration would be logged with a stack trace, for each client
                // that somebody chooses to send.
                logger.debug("Failed to accept a connection from {}", remote, e);
                if (opening != null) {
                    opening.close();
                    opening = null;
                    state = State.UNCONNECTED;
                }
                eventLoop().execute(() -> unsafe().close(voidPromise()));
            } catch (Throwable t) {
                // A channel whose registration fails is closed, but never deregistered.
                super.doDeregister();
                throw t;
            }
        }
    }

    @Override
    protected void doDeregister() {
        super.doDeregister();
        if (state == State.CONNECTING || state == State.ACTIVE) {
            abandoned = true;
            closeDeregistered(BELONGS_TO_LOOP);
        } else if (isLingering()) {
            boolean active = isActive();
            abandon();
            if (active) {
                // See closeDeregistered.
                pipeline().fireChannelInactive();
            }
        }
    }

    @Override
    String reasonToStay() {
        State now = state;
        return now == State.UNCONNECTED || now == State.CLOSED ? null : BELONGS_TO_LOOP;
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws IOException {
        local = socket.bind(ClientOpening.checked(localAddress));
    }

    private void connect(InetSocketAddress to, InetSocketAddress from, ChannelPromise promise) throws IOException {
        loop = loopLanes();
        if (from != null) {
            doBind(from);
        }
        ClientOpening started = new ClientOpening(this, loop, to, socket.openFor(to.getAddress()), promise);
        opening = started;
        state = State.CONNECTING;
        boolean begun = false;
        try {
            started.start();
            begun = true;
        } finally {
            if (!begun) {
                opening.close();
                opening = null;
                state = State.UNCONNECTED;
                closeSocket(false);
            }
        }
    }

    /** Which id of its loop this channel has, to be given back at its end. */
    void channelId(int id) {
        channelId = id;
    }

    /**
     * The connection is made.
     *
     * @param reasons why no better lane was taken
     * @param silenceMillis that the peer's host may be silent for, as far as the lane has to see to it; 0 for no limit
     * @param events  of the control socket so far
     */
    void opened(Lane made, List<String> reasons, int silenceMillis, int events) {
        Opening opened = opening;
        opening = null;
        lane = made;
        input = new ChannelInput(this, made, loop.engine());
        PeerWatch peerWatch = silenceMillis == 0 ? null : new PeerWatch(eventLoop(), made, silenceMillis);
        output = new ChannelOutput(this, made, loop.engine(), peerWatch, writes);
        made.listener(new ChannelEvents(this, input, output));
        laneName = made.name();
        transports = made.transports();
        if (state == State.DECLINING) {
            linger.opened(made, output);
            return;
        }
        state = State.ACTIVE;
        wasActive = true;
        metrics.opened(reasons);
        OrderlyExit.add(this);
        if (readBeforeConnect) {
            readBeforeConnect = false;
            input.beginRead();
        }
        boolean wanted = opened.succeed();
        pipeline().fireChannelActive();
        if (!wanted) {
            unsafe().close(voidPromise());
        } else if (state == State.ACTIVE) {
            lane.socketReady(events);
            // What was flushed meanwhile, and what came while a read was pending.
            ((UcxSocketUnsafe) unsafe()).flushNow();
            input.arrived();
        }
    }

    /**
     * There is no connection.
     *
     * @param lastWords what the peer is still to be told, or {@code null} if there is nothing to be told
     */
    void openingFailed(Queue<ByteBuf> lastWords) {
        opening = null;
        if (lastWords != null) {
            socket.bidFarewell(loop, lastWords, eventLoop());
        }
        closeSocket(false);
        if (state == State.DECLINING) {
            linger.end();
        } else {
            state = State.UNCONNECTED;
        }
    }

    private final class UcxSocketUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            // Not made uncancellable: a connect can be given up.
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                if (state == State.CONNECTING) {
                    throw new ConnectionPendingException();
                }
                if (state != State.UNCONNECTED) {
                    throw new AlreadyConnectedException();
                }
                UcxSocketChannel.this.connect(ClientOpening.checked(remoteAddress),
                        localAddress == null ? null : ClientOpening.checked(localAddress), promise);
            } catch (Throwable t) {
                if (t instanceof IOException) {
                    metrics.failed(HandshakeFailure.LOCAL_FAILURE, remoteAddress, t);
                }
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }

        /** Netty's, which names the address. */
        Throwable annotated(Throwable cause, SocketAddress address) {
            return annotateConnectException(cause, address);
        }

        @Override
        protected void flush0() {
            if (state == State.CONNECTING) {
                // Goes on when the connection is open, even if the channel has been closed by then.
                return;
            }
            super.flush0();
        }

        void flushNow() {
            super.flush0();
        }

        @Override
        protected Executor prepareToClose() {
            if (output != null) {
                // The peer may end the connection in the same turn in which it has taken the last bytes.
                output.complete();
            }
            boolean waits = !abandoned && config.getSoLinger() != 0
                    && (accepted && state == State.CONNECTING && opening != null
                    || state == State.ACTIVE && lane.mustLinger(output.isDrained()));
            return waits ? UcxSocketChannel.this::lingerThenClose : null;
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    @Override
    protected void doBeginRead() {
        if (input != null) {
            input.beginRead();
        } else {
            readBeforeConnect = true;
        }
    }

    /** The application does not want to read any more, for now. Only for the channel's loop. */
    void cancelRead() {
        if (config.isAutoRead()) {
            // Switched on again meanwhile.
            return;
        }
        readBeforeConnect = false;
        if (input != null) {
            input.cancelRead();
        }
    }

    @Override
    boolean isReading() {
        return state == State.ACTIVE;
    }

    /** An exception that nobody expected is this channel's matter, and not its loop's. */
    void faulted(RuntimeException cause) {
        logger.warn("{} is closed because of an unexpected exception.", this, cause);
        abandoned = true;
        if (state == State.ACTIVE) {
            pipeline().fireExceptionCaught(cause);
        }
        unsafe().close(voidPromise());
        cutLinger();
    }

    /**
     * Everything that came before has been read: tells the application, and fails what it still wanted to send. A peer
     * that goes when this side neither writes nor reads any more does what is expected of it.
     */
    void lost(IOException cause) {
        if (lane.closeReason() != CloseReason.ORDERLY) {
            pipeline().fireExceptionCaught(cause);
        }
        // With the reason, rather than with the close that follows from it.
        failWaiting();
        if (state == State.ACTIVE) {
            unsafe().close(unsafe().voidPromise());
        }
    }

    /** The connection is lost: fails what waits to be sent. */
    void failWaiting() {
        if (state == State.ACTIVE && !output.isDrained()) {
            ((UcxSocketUnsafe) unsafe()).flushNow();
        }
    }

    // ------------------------------------------------------------------------------------------- writing

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        try {
            output.write();
        } catch (IOException e) {
            if (!config.isAutoClose() || !lane.isReadable() && !lane.isEnding()) {
                throw e;
            }
            // Netty would close the channel, and with it goes what the peer has sent before it went.
            output.failFlushed(in, e);
        }
        halfClose.advance();
    }

    void continueWriting() {
        if (isLingering()) {
            linger.advance();
        } else if (state == State.ACTIVE) {
            ((UcxSocketUnsafe) unsafe()).flushNow();
            halfClose.advance();
        }
    }

    // ------------------------------------------------------------------------------------------- closing

    boolean isLingering() {
        State now = state;
        return now == State.LINGERING || now == State.DECLINING;
    }

    /** Ends the wait for a peer that has not taken everything. */
    void cutLinger() {
        if (isLingering()) {
            linger.end();
        }
    }

    /** The same, if the time for it has come; the loop does not run its timers any more. */
    void checkLinger() {
        if (isLingering()) {
            linger.checkTimeout();
        }
    }

    @Override
    void abandon() {
        abandoned = true;
        super.abandon();
        cutLinger();
        // After a close that has waited Netty leaves it to a task, which a loop that has ended does not take.
        if (linger != null && writes != null) {
            ChannelOutput.failAll(writes, new ClosedChannelException());
        }
    }

    private void lingerThenClose(Runnable closeTask) {
        linger = new Linger(eventLoop(), config, closeTask);
        if (state == State.CONNECTING) {
            state = State.DECLINING;
        } else {
            state = State.LINGERING;
            linger.opened(lane, output);
        }
        linger.start();
    }

    @Override
    protected void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    protected void doClose() {
        State before = state;
        if (before == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        OrderlyExit.remove(this);
        if (opening != null) {
            Opening given = opening;
            opening = null;
            given.cancel();
        } else if (wasActive && (before == State.ACTIVE || before == State.LINGERING)) {
            metrics.closed(closeReason(before));
        }
        halfClose.closed();
        closeSocket(config.getSoLinger() == 0);
    }

    private CloseReason closeReason(State before) {
        CloseReason reason = lane.closeReason();
        if (reason != CloseReason.ABORTED || config.getSoLinger() == 0) {
            return reason;
        }
        if (!lane.mustLinger(output.isDrained())) {
            // The kernel delivers what it has been given, and then the end.
            return CloseReason.ORDERLY;
        }
        return before == State.LINGERING ? CloseReason.CLOSE_TIMED_OUT : reason;
    }

    private void closeSocket(boolean reset) {
        if (lane != null) {
            lane.close(reset);
            output.closed();
        }
        // A lane sees to a reset itself.
        socket.close(loop, reset && lane == null);
        if (channelId != 0) {
            loop.engine().releaseChannelId(channelId);
            channelId = 0;
        }
    }

    ConnectionMetrics connectionMetrics() {
        return metrics;
    }

    /** A failed connect, named as Netty names it. */
    Throwable annotated(Throwable cause, SocketAddress address) {
        return ((UcxSocketUnsafe) unsafe()).annotated(cause, address);
    }

    /** Of a channel that has been open. Only for its loop. */
    LoopLanes loop() {
        return loop;
    }

    // ------------------------------------------------------------------------------------------- half-close

    /** Whether this side is the server's. */
    boolean isAccepted() {
        return accepted;
    }

    @Override
    boolean isUnconnected() {
        return state == State.UNCONNECTED || state == State.CONNECTING;
    }

    @Override
    boolean isDrained() {
        return output.isDrained();
    }

    @Override
    boolean canEndOutput() {
        return lane.isOutputOpen();
    }

    @Override
    protected void doShutdownOutput() throws IOException {
        // Netty is going to empty it.
        writes = null;
        if (isUnconnected()) {
            throw new NotYetConnectedException();
        }
        halfClose.outputEnded();
        if (state == State.ACTIVE) {
            if (lane.failure() != null && lane.closeReason() != CloseReason.ORDERLY) {
                // Open only because there is still something to be read.
                throw lane.failure();
            }
            lane.finish(isInputShutdown() && !lane.isInputFinished());
            lane.settle();
        }
    }

    @Override
    void endInputNow() {
        input.shutdown();
    }
}
