// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.socket.KernelSocket;
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

    enum State {
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
    private final Connecting connecting;
    /** From the opening on; {@code null} before. */
    private OpenConnection connection;
    private final Closing closing = new Closing(this);
    private int channelId;
    /** The application has asked for a read while there was nothing to read from. */
    private boolean readBeforeConnect;
    /** Netty's, which takes it from the channel when that closes; {@code null} if it is empty for good. */
    private ChannelOutboundBuffer writes;
    private final ConnectionMetrics metrics = new ConnectionMetrics(this);

    public UcxSocketChannel() {
        super(null);
        accepted = false;
        socket = new ControlSocket(config.socketOptions(), null);
        connecting = new Connecting(this, socket);
    }

    /** @param socket that a server has accepted */
    UcxSocketChannel(Channel parent, KernelSocket socket, InetSocketAddress local, InetSocketAddress remote) {
        super(parent);
        accepted = true;
        this.socket = new ControlSocket(config.socketOptions(), socket);
        connecting = new Connecting(this, this.socket);
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

    /** Of the event loop's thread. */
    void become(State next) {
        state = next;
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
                connecting.accepted(loop);
            } catch (IOException e) {
                // The client has gone, perhaps. A failed registration would be logged with a stack trace, for each client
                // that somebody chooses to send.
                logger.debug("Failed to accept a connection from {}", remote, e);
                connecting.giveUp();
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
            closing.hurry();
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
        connecting.connect(loop, to, promise);
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
        Opening opened = connecting.ended();
        connection = new OpenConnection(this, made, loop, silenceMillis, writes);
        laneName = made.name();
        transports = made.transports();
        if (state == State.DECLINING) {
            closing.opened(connection);
            return;
        }
        state = State.ACTIVE;
        wasActive = true;
        metrics.opened(reasons);
        OrderlyExit.add(this);
        if (readBeforeConnect) {
            readBeforeConnect = false;
            connection.input().beginRead();
        }
        boolean wanted = opened.succeed();
        pipeline().fireChannelActive();
        if (!wanted) {
            unsafe().close(voidPromise());
        } else if (state == State.ACTIVE) {
            made.socketReady(events);
            // What was flushed meanwhile, and what came while a read was pending.
            ((UcxSocketUnsafe) unsafe()).flushNow();
            connection.input().arrived();
        }
    }

    /**
     * There is no connection.
     *
     * @param lastWords what the peer is still to be told, or {@code null} if there is nothing to be told
     */
    void openingFailed(Queue<ByteBuf> lastWords) {
        connecting.ended();
        if (lastWords != null) {
            socket.bidFarewell(loop, lastWords, eventLoop());
        }
        closeSocket(false);
        if (state == State.DECLINING) {
            closing.cut();
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
            if (connection != null) {
                // The peer may end the connection in the same turn in which it has taken the last bytes.
                connection.output().complete();
            }
            boolean waits = closing.mayWait() && (accepted && state == State.CONNECTING && connecting.isUnderWay()
                    || state == State.ACTIVE && connection.mustLinger());
            return waits ? closeTask -> closing.begin(connection, closeTask) : null;
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    @Override
    protected void doBeginRead() {
        if (connection != null) {
            connection.input().beginRead();
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
        if (connection != null) {
            connection.input().cancelRead();
        }
    }

    @Override
    boolean isReading() {
        return state == State.ACTIVE;
    }

    /** An exception that nobody expected is this channel's matter, and not its loop's. */
    void faulted(RuntimeException cause) {
        logger.warn("{} is closed because of an unexpected exception.", this, cause);
        closing.hurry();
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
        if (!connection.hasEndedInOrder()) {
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
        if (state == State.ACTIVE && !isDrained()) {
            ((UcxSocketUnsafe) unsafe()).flushNow();
        }
    }

    // ------------------------------------------------------------------------------------------- writing

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        connection.write(in);
        halfClose.advance();
    }

    void continueWriting() {
        if (isLingering()) {
            closing.advance();
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
        closing.cut();
    }

    /** The same, if the time for it has come; the loop does not run its timers any more. */
    void checkLinger() {
        closing.checkTimeout();
    }

    @Override
    void abandon() {
        closing.hurry();
        super.abandon();
        cutLinger();
        // After a close that has waited Netty leaves it to a task, which a loop that has ended does not take.
        if (closing.hasWaited() && writes != null) {
            ChannelOutput.failAll(writes, new ClosedChannelException());
        }
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
        if (connecting.isUnderWay()) {
            connecting.cancel();
        } else if (wasActive && (before == State.ACTIVE || before == State.LINGERING)) {
            metrics.closed(connection.closeReason(before == State.LINGERING, config.getSoLinger() == 0));
        }
        halfClose.closed();
        closeSocket(config.getSoLinger() == 0);
    }

    private void closeSocket(boolean reset) {
        if (connection != null) {
            connection.close(reset);
        }
        // A lane sees to a reset itself.
        socket.close(loop, reset && connection == null);
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
        return connection.output().isDrained();
    }

    @Override
    boolean canEndOutput() {
        return connection.lane().isOutputOpen();
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
            connection.endOutput();
        }
    }

    @Override
    void endInputNow() {
        connection.input().shutdown();
    }
}
