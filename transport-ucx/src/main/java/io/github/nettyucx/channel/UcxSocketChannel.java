// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryException;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.Traffic;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * A {@link SocketChannel} whose bytes travel over the fastest lane that the two sides share: RDMA, shared memory, or the
 * kernel's TCP. Use it with a {@link UcxEventLoopGroup}, or with a {@code UcxIoHandler} on Netty 4.2.
 * <p>
 * The threads' rules are Netty's: every method may be called from any thread.
 */
public final class UcxSocketChannel extends AbstractUcxStreamChannel {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxSocketChannel.class);

    private static final String BELONGS_TO_LOOP = "a UCX connection cannot leave its event loop, because its lane"
            + " belongs to the loop; close the channel, or keep it registered";

    private final UcxSocketChannelConfig config = new UcxSocketChannelConfig(this);
    /** Whether a server has accepted it. */
    private final boolean accepted;
    private volatile ChannelState state = ChannelState.UNCONNECTED;

    private final ChannelSocket socket;
    private LoopLanes loop;
    private final Connecting connecting;
    /** From the opening on; {@code null} before. */
    private OpenConnection connection;
    private final Closing closing = new Closing(this);
    private int channelId;
    /** Netty's, which takes it from the channel when that closes; {@code null} if it is empty for good. */
    private ChannelOutboundBuffer writes;
    private final ConnectionMetrics metrics = new ConnectionMetrics(this);

    public UcxSocketChannel() {
        super(null);
        accepted = false;
        socket = new ChannelSocket(config.socketOptions(), null);
        connecting = new Connecting(this, socket);
    }

    /** @param socket that a server has accepted */
    UcxSocketChannel(Channel parent, KernelSocket socket, InetSocketAddress local, InetSocketAddress remote) {
        super(parent);
        accepted = true;
        this.socket = new ChannelSocket(config.socketOptions(), socket);
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
        return state.isOpen();
    }

    /** Whether nothing of it is left, not even a peer to be told. From any thread. */
    boolean isOver() {
        return state == ChannelState.CLOSED;
    }

    @Override
    public boolean isActive() {
        return state.isActive();
    }

    /** Of the event loop's thread. */
    void become(ChannelState next) {
        state = next;
    }

    /** What has gone over this connection so far. */
    public UcxTraffic metrics() {
        return new UcxTraffic(List.of(metrics.traffic()));
    }

    /**
     * Opens a key that the peer's process has exported, by {@link UcxMemory#exportKey}. Any thread may call.
     *
     * @return fails with a {@link UcxMemoryException} if the key is refused, with an {@link UnsupportedOperationException} on
     *         lane {@code socket}, with a {@link java.nio.channels.NotYetConnectedException} before the channel is connected,
     *         with an {@link java.io.IOException} when the connection has ended, and with a
     *         {@link java.util.concurrent.RejectedExecutionException} when its loop has
     */
    public Future<UcxRemoteMemory> openMemory(byte[] key) {
        return ChannelMemory.open(this, key.clone());
    }

    Traffic traffic() {
        return metrics.traffic();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new UcxSocketUnsafe();
    }

    // ------------------------------------------------------------------------------------------- opening

    /** It is being registered with a loop that has these counters. */
    void countBy(LoopCounters counters) {
        metrics.countBy(counters);
    }

    @Override
    protected void doRegister() throws Exception {
        super.doRegister();
        writes = unsafe().outboundBuffer();
        if (accepted && state == ChannelState.UNCONNECTED) {
            try {
                beginAccepted();
            } catch (Throwable t) {
                connecting.giveUp();
                // A channel whose registration fails is closed, but never deregistered.
                super.doDeregister();
                throw t;
            }
        }
    }

    private void beginAccepted() {
        try {
            loop = loopLanes();
            connecting.accepted(loop);
        } catch (IOException e) {
            // The client has gone, perhaps. A failed registration would be logged with a stack trace, for each client that
            // somebody chooses to send.
            logger.debug("Failed to accept a connection from {}", remote, e);
            connecting.acceptedInVain(remote, e);
        }
    }

    @Override
    protected void doDeregister() {
        super.doDeregister();
        if (state == ChannelState.CONNECTING || state == ChannelState.ACTIVE) {
            closing.hurry();
            closeDeregistered(BELONGS_TO_LOOP);
        } else if (state == ChannelState.LINGERING || state == ChannelState.DECLINING) {
            abandon();
            if (wasActive) {
                // See closeDeregistered.
                pipeline().fireChannelInactive();
            }
        }
    }

    @Override
    String reasonToStay() {
        return state == ChannelState.UNCONNECTED || !isOpen() ? null : BELONGS_TO_LOOP;
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws IOException {
        if (state != ChannelState.UNCONNECTED) {
            throw new AlreadyBoundException();
        }
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

    /** There is a connection, wanted or not. */
    void has(OpenConnection made) {
        connection = made;
        laneName = made.lane().name();
        transports = made.lane().transports();
    }

    /** Whether it was closed before its handshake was over, which goes on so that the peer is told. */
    boolean isDeclined() {
        return !wasActive && isLingering();
    }

    @Override
    boolean isBeingAccepted() {
        return accepted && state == ChannelState.CONNECTING;
    }

    /** Whether its client can be told of a close when the handshake is over. */
    private boolean isInHandshake() {
        return isBeingAccepted() && connecting.isUnderWay();
    }

    private final class UcxSocketUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            // Not made uncancellable: a connect can be given up.
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                if (state == ChannelState.CONNECTING) {
                    throw new ConnectionPendingException();
                }
                if (state != ChannelState.UNCONNECTED) {
                    throw new AlreadyConnectedException();
                }
                UcxSocketChannel.this.connect(ClientOpening.checked(remoteAddress),
                        localAddress == null ? null : ClientOpening.checked(localAddress), promise);
            } catch (Throwable t) {
                if (t instanceof IOException) {
                    metrics.failed(ClientOpening.reason(t, HandshakeFailure.LOCAL_FAILURE), remoteAddress, t);
                }
                promise.tryFailure(annotated(t, remoteAddress));
                closeIfClosed();
            }
        }

        Throwable annotated(Throwable cause, SocketAddress address) {
            return naming(annotateConnectException(cause, address), address);
        }

        @Override
        protected void flush0() {
            if (state == ChannelState.CONNECTING) {
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
            boolean waits = (state == ChannelState.ACTIVE || isInHandshake()) && closing.lingers(connection);
            return waits ? closeTask -> closing.begin(connection, closeTask) : null;
        }
    }

    /** The thread ends the JVM, perhaps in a listener of a write's promise, and does not return from there. */
    void resumeWriting() {
        if (connection != null) {
            connection.output().resume();
        }
    }

    /** The thread ends the JVM, perhaps in a listener that a close has told: then that close goes no further. */
    void closeAtExit() {
        unsafe().close(unsafe().voidPromise());
        if (state == ChannelState.ACTIVE) {
            if (closing.lingers(connection)) {
                closing.begin(connection, this::doClose);
            } else {
                doClose();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    @Override
    void beginRead() {
        if (connection != null) {
            connection.input().beginRead();
        } else {
            connecting.beginRead();
        }
    }

    @Override
    boolean isReadPending() {
        return connection != null ? connection.input().isReadPending() : connecting.isReadPending();
    }

    @Override
    void cancelRead() {
        connecting.cancelRead();
        if (connection != null) {
            connection.input().cancelRead();
        }
    }

    @Override
    boolean isReading() {
        return state == ChannelState.ACTIVE;
    }

    /** An exception that nobody expected is this channel's matter, and not its loop's. */
    void faulted(Throwable cause) {
        logger.warn("{} is closed because of an unexpected exception.", this, cause);
        closing.hurry();
        if (state == ChannelState.ACTIVE) {
            pipeline().fireExceptionCaught(cause);
        }
        connecting.closeUnopened();
        cutLinger();
    }

    // ------------------------------------------------------------------------------------------- writing

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        if (state == ChannelState.PASSING) {
            // The channel closes as soon as the application has been told, and what it adds here fails with that.
            return;
        }
        connection.write(in);
        halfClose.advance();
    }

    /** Also while the connection is being opened. */
    void flushNow() {
        ((UcxSocketUnsafe) unsafe()).flushNow();
    }

    void continueWriting() {
        if (isLingering()) {
            closing.advance();
        } else if (state == ChannelState.ACTIVE) {
            flushNow();
            halfClose.advance();
        }
    }

    // ------------------------------------------------------------------------------------------- closing

    /** Whether there is a peer to be told of a close. */
    boolean isLingering() {
        return state.isLingering();
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
        if (!isOpen()) {
            return;
        }
        ChannelState before = state;
        halfClose.closed();
        if (accepted && !wasActive && before != ChannelState.UNCONNECTED) {
            tellEarlyEnd();
        }
        if ((before == ChannelState.ACTIVE || isInHandshake()) && closing.departs(connection)) {
            // The end of the JVM waits for it.
            OrderlyExit.add(this);
            closing.depart(connection, loop, () -> {
                giveBack(ChannelState.LINGERING);
                state = ChannelState.CLOSED;
            });
        } else {
            state = ChannelState.CLOSED;
            giveBack(before);
        }
    }

    /**
     * Of an accepted channel that is closed before its handshake is over, in {@code initChannel} for example: of a socket
     * that is closed there Netty tells the end, and no beginning.
     */
    private void tellEarlyEnd() {
        try {
            // Before what Netty has to tell in a later turn.
            eventLoop().execute(pipeline()::fireChannelInactive);
        } catch (RuntimeException e) {
            // The loop ends, and tells it, see tellEnd. Or it has no room, and whoever rejects its tasks throws what he likes.
        }
    }

    private void giveBack(ChannelState before) {
        try {
            OrderlyExit.remove(this);
            if (connecting.isUnderWay()) {
                connecting.cancel();
            } else if (wasActive && (before == ChannelState.ACTIVE || before == ChannelState.LINGERING)) {
                metrics.closed(connection.closeReason(before == ChannelState.LINGERING, config.getSoLinger() == 0));
            }
        } finally {
            closeSocket(config.getSoLinger() == 0);
        }
    }

    void closeSocket(boolean reset) {
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

    /** {@code null} before it has been opened. Only for the channel's loop. */
    OpenConnection connection() {
        return connection;
    }

    ConnectionMetrics connectionMetrics() {
        return metrics;
    }

    /** A failed connect, named as Netty names it. */
    Throwable annotated(Throwable cause, SocketAddress address) {
        return ((UcxSocketUnsafe) unsafe()).annotated(cause, address);
    }

    Connecting connecting() {
        return connecting;
    }

    Closing closing() {
        return closing;
    }

    /** {@code null} if it is empty for good. */
    ChannelOutboundBuffer writes() {
        return writes;
    }

    /** Of a channel that has been open. Only for its loop. */
    LoopLanes loop() {
        return loop;
    }

    // ------------------------------------------------------------------------------------------- half-close

    /** {@inheritDoc} So is one that a server has accepted. */
    @Override
    boolean tellsInactive() {
        return accepted || super.tellsInactive();
    }

    /** Whether this side is the server's. */
    boolean isAccepted() {
        return accepted;
    }

    @Override
    boolean isUnconnected() {
        return state.isUnconnected();
    }

    @Override
    boolean canEndOutput() {
        return connection.output().isDrained() && !connection.lane().isEnding();
    }

    @Override
    protected void doShutdownOutput() throws Exception {
        // Netty is going to empty it.
        writes = null;
        if (state != ChannelState.ACTIVE) {
            throw isUnconnected() ? new NotYetConnectedException() : new ClosedChannelException();
        }
        halfClose.outputEnded();
        connection.endOutput();
    }

    @Override
    void endInputNow() {
        connection.input().shutdown();
    }
}
