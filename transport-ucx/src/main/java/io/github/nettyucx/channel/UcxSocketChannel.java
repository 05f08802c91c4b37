// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.HandshakeFailure;
import io.github.nettyucx.worker.Endpoint;
import io.github.nettyucx.worker.PeerProbe;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.Worker;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * A {@link SocketChannel} whose bytes travel over UCX: RDMA, shared memory or TCP, whichever is the fastest that the
 * two sides share. Use it with a {@link UcxEventLoopGroup}, or with a {@code UcxIoHandler} on Netty 4.2.
 * <p>
 * The threads' rules are Netty's: every method may be called from any thread.
 */
public final class UcxSocketChannel extends AbstractUcxStreamChannel implements CountedChannel {

    private enum State {
        /** Neither connected nor connecting. */
        UNCONNECTED,
        /** The endpoint connects, or the handshake is under way. */
        CONNECTING,
        /** Bytes flow. */
        ACTIVE,
        /** Closed by the application; what was flushed before is being delivered. */
        LINGERING,
        /** Closed before it was open, and so never active; the peer is to see an orderly end. */
        DECLINING,
        CLOSED
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxSocketChannel.class);

    /** UCX's name of the one that the kernel serves. */
    private static final String NETWORK_LANE = "tcp";

    private static final String BELONGS_TO_LOOP = "a UCX connection cannot leave its event loop, because its endpoint"
            + " belongs to the loop's worker; close the channel, or keep it registered";

    private final UcxSocketChannelConfig config = new UcxSocketChannelConfig(this);
    /** What a server accepts; {@code null} on the connecting side. */
    private final IncomingConnection incoming;
    private volatile State state = State.UNCONNECTED;

    private InetSocketAddress bindAddress;
    private Endpoint endpoint;
    private Connection connection;
    private ChannelInput input;
    private ChannelOutput output;
    private IOException failure;
    /** The channel's loop looks at it no more: a close must not wait. */
    private boolean abandoned;
    /** The application has asked for a read while there was nothing to read from. */
    private boolean readBeforeConnect;

    /** Netty's, which takes it from the channel when that closes; {@code null} if it is empty for good. */
    private ChannelOutboundBuffer writes;

    /** While the channel connects. */
    private ConnectAttempt attempt;
    private Linger linger;
    private final ConnectionMetrics metrics = new ConnectionMetrics(this);

    public UcxSocketChannel() {
        this(null, null);
    }

    UcxSocketChannel(Channel parent, IncomingConnection incoming) {
        super(parent);
        this.incoming = incoming;
        if (incoming != null) {
            remote = incoming.remoteAddress();
            local = incoming.localAddress();
        }
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
        if (incoming != null && state == State.UNCONNECTED) {
            try {
                accept(loopEngine());
            } catch (Throwable t) {
                // A channel whose registration fails is closed, but never deregistered.
                super.doDeregister();
                metrics.failed(HandshakeFailure.LOCAL_FAILURE, remote, t);
                throw t;
            }
        }
    }

    private void accept(ProgressEngine engine) {
        try {
            open(engine.workerForAccepting(incoming.localAddress().getAddress(), incoming.clientId()), incoming::accept);
            attempt = ConnectAttempt.accepting(this, incoming.remoteAddress());
        } catch (IOException e) {
            // The client has gone, or UCX cannot make sense of its message, or there are no descriptors for it. A failed
            // registration would be logged with a stack trace, for each client that somebody chooses to send.
            logger.debug("Failed to accept a connection from {}", remote, e);
            metrics.failed(HandshakeFailure.LOCAL_FAILURE, remote, e);
            eventLoop().execute(() -> unsafe().close(voidPromise()));
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
    protected void doBind(SocketAddress localAddress) {
        bindAddress = (InetSocketAddress) localAddress;
        local = bindAddress;
    }

    @FunctionalInterface
    private interface EndpointSource {
        Endpoint open(Worker worker, Connection connection) throws IOException;
    }

    private void open(Worker worker, EndpointSource source) throws IOException {
        ProgressEngine engine = worker.engine();
        ConnectionEvents events = new ConnectionEvents(this, engine);
        int window = config.getReceiveBufferSize();
        Connection fresh = new Connection(
                new Connection.Limits(Ucx.packedVersion(), window, config.maxMessage()), events,
                length -> alloc().directBuffer(length), metrics.traffic());
        endpoint = source.open(worker, fresh);
        connection = fresh;
        input = new ChannelInput(this, fresh, engine);
        output = new ChannelOutput(this, fresh, engine);
        events.attach(input, output);
        state = State.CONNECTING;
        fresh.start(endpoint);
        if (readBeforeConnect) {
            readBeforeConnect = false;
            input.beginRead();
        }
    }

    void opened() {
        if (isLingering()) {
            linger.advance();
            return;
        }
        if (state != State.CONNECTING) {
            // Closed before the turn came.
            return;
        }
        if (!connection.isOpen()) {
            // Lost again, which is about to be reported; but not if the peer's stream has ended in good order.
            if (connection.closeReason() == CloseReason.ORDERLY) {
                connectFailed(new ConnectException("Connection closed by the peer right after the handshake"));
            }
            return;
        }
        try {
            local = endpoint.localAddress();
            lane = endpoint.lane();
            transports = endpoint.transports();
        } catch (IOException e) {
            // Lost again, which is about to be reported: then there are no addresses to be had.
            connectFailed(e);
            return;
        }
        remote = attempt.remote();
        if (lane.equals(NETWORK_LANE)) {
            PeerProbe.opened(local, remote);
        }
        state = State.ACTIVE;
        wasActive = true;
        metrics.opened();
        OrderlyExit.add(this);
        boolean wanted = takeAttempt().succeed();
        pipeline().fireChannelActive();
        if (!wanted) {
            // Cancelled while it was connecting.
            unsafe().close(voidPromise());
        } else if (state == State.ACTIVE) {
            // What was flushed meanwhile, and what came while a read was pending: messages can overtake the HELLO.
            ((UcxSocketUnsafe) unsafe()).flushNow();
            input.arrived();
        }
    }

    /** The open connection is lost; it is told when everything that came before has been read. */
    void broken(IOException cause) {
        failure = cause;
        input.failed(cause);
    }

    void connectFailed(IOException cause) {
        if (state != State.CONNECTING) {
            return;
        }
        // Before it is closed: a close waits for a handshake that is still under way.
        teardown();
        ConnectAttempt failed = takeAttempt();
        metrics.failed(connection, failed.remote(), cause, HandshakeFailure.CLOSED_BY_PEER);
        Throwable named = ((UcxSocketUnsafe) unsafe()).naming(failed, cause);
        if (incoming == null) {
            state = State.UNCONNECTED;
            // The channel may be connected once more; who has asked for bytes, or asks now, gets those that come then.
            readBeforeConnect = input.isReadPending();
            input = null;
        }
        if (!failed.fail(named)) {
            logger.debug("Closed a connection from {} before it was open: {}", remote, cause.getMessage());
            unsafe().close(voidPromise());
        }
    }

    private ConnectAttempt takeAttempt() {
        ConnectAttempt taken = attempt;
        attempt = null;
        return taken;
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
                InetSocketAddress to = ConnectAttempt.checked(remoteAddress);
                InetSocketAddress from = localAddress == null ? bindAddress : ConnectAttempt.checked(localAddress);
                Worker worker = loopEngine().workerForConnecting(to);
                open(worker, (w, listener) -> w.connect(to, from, listener));
                attempt = ConnectAttempt.connecting(UcxSocketChannel.this, to, promise);
            } catch (Throwable t) {
                if (t instanceof IOException) {
                    metrics.failed(HandshakeFailure.LOCAL_FAILURE, remoteAddress, t);
                }
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }

        Throwable naming(ConnectAttempt failed, Throwable cause) {
            return failed.naming(annotateConnectException(cause, failed.remote()));
        }

        @Override
        protected void flush0() {
            if (state == State.CONNECTING) {
                // Goes on when the connection is open, even if the channel has been closed by then.
                output.defer(outboundBuffer());
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
            return config.getSoLinger() != 0 && !abandoned && (isOpening() || canDeliver())
                    ? UcxSocketChannel.this::lingerThenClose : null;
        }

        /** Whether the peer, who may be through with the handshake already, has to see an orderly end. */
        private boolean isOpening() {
            return incoming != null && state == State.CONNECTING && connection.isOpening();
        }

        private boolean canDeliver() {
            return state == State.ACTIVE && connection.isOpen()
                    && (connection.outbound().isOpen() || connection.outbound().isFinishing())
                    && connection.inbound().peerReads();
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

    /**
     * Everything that came before has been read: tells the application, and fails what it still wanted to send. A peer
     * that goes when this side neither writes nor reads any more does what is expected of it.
     */
    void lost(IOException cause) {
        if (connection.closeReason() != CloseReason.ORDERLY) {
            pipeline().fireExceptionCaught(cause);
        }
        if (state == State.ACTIVE && !output.isDrained()) {
            // Fails the writes with the reason, rather than with the close that follows from it.
            ((UcxSocketUnsafe) unsafe()).flushNow();
        }
        if (state == State.ACTIVE) {
            unsafe().close(unsafe().voidPromise());
        }
    }

    // ------------------------------------------------------------------------------------------- writing

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        endpoint.worker().catchUp();
        output.write(in);
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

    /** @throws IOException if bytes cannot be sent because the connection is lost */
    void checkWritable() throws IOException {
        if (failure != null) {
            throw failure;
        }
        if (state == State.ACTIVE && connection.outbound().isFailed()) {
            throw new IOException("Broken pipe: the peer has closed the connection");
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
        state = state == State.CONNECTING ? State.DECLINING : State.LINGERING;
        linger = new Linger(eventLoop(), config, connection, output, closeTask);
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
        if (attempt != null) {
            ConnectAttempt failed = takeAttempt();
            ClosedChannelException cause = new ClosedChannelException();
            metrics.failed(connection, failed.remote(), failed.causeOr(cause), HandshakeFailure.CANCELLED);
            failed.fail(cause);
        } else if (before == State.ACTIVE || before == State.LINGERING) {
            CloseReason reason = connection.closeReason();
            metrics.closed(reason == CloseReason.ABORTED && before == State.LINGERING
                    ? CloseReason.CLOSE_TIMED_OUT : reason);
        }
        halfClose.closed();
        teardown();
        if (incoming != null) {
            incoming.ended();
        }
    }

    /** Of a channel that has been open. Only for its loop. */
    ProgressEngine engine() {
        return endpoint.worker().engine();
    }

    private void teardown() {
        if (connection != null) {
            connection.close();
            endpoint.close();
        }
    }

    // ------------------------------------------------------------------------------------------- half-close

    /** Whether this side is the server's. */
    boolean isAccepted() {
        return incoming != null;
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
    protected void doShutdownOutput() {
        // Netty is going to empty it.
        writes = null;
        if (isUnconnected()) {
            throw new NotYetConnectedException();
        }
        halfClose.outputEnded();
        if (state == State.ACTIVE) {
            connection.outbound().finish(isInputShutdown() && !connection.inbound().isFinished());
            connection.settle();
        }
    }

    @Override
    void endInputNow() {
        input.shutdown();
    }
}
