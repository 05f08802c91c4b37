// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.ucp.ConnectionHandler;
import io.github.nettyucx.ucp.UcpConnectionRequest;
import io.github.nettyucx.ucp.UcpListener;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import io.github.nettyucx.wire.HandshakeFailure;
import io.github.nettyucx.worker.Doorkeeper;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.Worker;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A {@link ServerSocketChannel} that accepts {@link UcxSocketChannel}s. Use it with a {@link UcxEventLoopGroup}, or
 * with a {@code UcxIoHandler} on Netty 4.2; its children may be registered with another group.
 * <p>
 * A wildcard address accepts connections over IPv4 and over the IPv6 addresses that the host has at that time.
 */
// RecvByteBufAllocator.Handle is deprecated for users, not for transports.
@SuppressWarnings("deprecation")
public final class UcxServerSocketChannel extends AbstractUcxChannel implements ServerSocketChannel, CountedChannel {

    private enum State {
        UNBOUND, LISTENING, CLOSED
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxServerSocketChannel.class);
    private static final String BELONGS_TO_LOOP = "a UCX listener cannot leave its event loop, because it belongs to"
            + " the loop's worker; close the channel, or keep it registered";
    private static final byte[] ANY_IPV4 = new byte[4];

    private final UcxServerSocketChannelConfig config = new UcxServerSocketChannelConfig(this);
    private volatile State state = State.UNBOUND;

    private LoopCounters counters;
    private ProgressEngine engine;
    private final List<Entrance> entrances = new ArrayList<>(2);
    /** Asked for and not yet accepted, as the backlog of a socket. */
    private final ArrayDeque<IncomingConnection> waiting = new ArrayDeque<>();
    /** Given to the pipeline, and perhaps not yet registered; a handler may also have lost it. */
    private final ArrayDeque<IncomingConnection> handedOut = new ArrayDeque<>();
    private boolean readPending;
    private boolean scheduled;
    private boolean expiryScheduled;

    private record Entrance(UcpListener listener, Worker worker, Doorkeeper doorkeeper) {
    }

    public UcxServerSocketChannel() {
        super(null);
    }

    // ------------------------------------------------------------------------------------------- as Netty sees it

    @Override
    public UcxServerSocketChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        return state == State.LISTENING;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new UcxServerUnsafe();
    }

    private final class UcxServerUnsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            safeSetFailure(promise, new UnsupportedOperationException("a server channel does not connect"));
        }
    }

    @Override
    public void countBy(LoopCounters loop) {
        counters = loop;
    }

    @Override
    protected void doDeregister() {
        super.doDeregister();
        if (state == State.LISTENING) {
            closeDeregistered(BELONGS_TO_LOOP);
        }
    }

    @Override
    String reasonToStay() {
        return state == State.LISTENING ? BELONGS_TO_LOOP : null;
    }

    // ------------------------------------------------------------------------------------------- binding

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        if (!(localAddress instanceof InetSocketAddress wanted)) {
            throw new IllegalArgumentException("address " + localAddress + "; expected an InetSocketAddress");
        }
        if (wanted.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (state != State.UNBOUND) {
            throw new IllegalStateException("already bound to " + local);
        }
        engine = loopEngine();
        if (wanted.getAddress().isAnyLocalAddress()) {
            listen(new InetSocketAddress(InetAddress.getByAddress(ANY_IPV4), wanted.getPort()));
            local = withPortOf(wanted, entrances.getFirst().listener().localAddress());
            listenOnIpv6(local.getPort());
        } else {
            listen(wanted);
            local = withPortOf(wanted, entrances.getFirst().listener().localAddress());
        }
        state = State.LISTENING;
        wasActive = true;
    }

    private void listen(InetSocketAddress address) throws IOException {
        Worker worker = engine.workerForListening(address.getAddress());
        UcpListener listener = null;
        boolean guarded = false;
        try {
            Requests requests = new Requests();
            listener = worker.listen(address, requests);
            requests.listening = withPortOf(address, listener.localAddress());
            requests.doorkeeper = new Doorkeeper(
                    listener.localAddress(), config::getHandshakeTimeoutMillis, counters.strangers());
            entrances.add(new Entrance(listener, worker, requests.doorkeeper));
            guarded = true;
        } catch (UcxException e) {
            throw bindFailure(address, e);
        } finally {
            if (listener != null && !guarded) {
                // Nobody else would: of those that are known all is closed with the channel.
                worker.close(listener);
            }
        }
    }

    /**
     * A socket on {@code ::} would take IPv4 connections as well, which UCX cannot accept, and would collide with the
     * listener for IPv4; so IPv6 is listened for on each address that the host has now.
     */
    private void listenOnIpv6(int port) throws IOException {
        for (Enumeration<NetworkInterface> all = NetworkInterface.getNetworkInterfaces(); all.hasMoreElements();) {
            for (Enumeration<InetAddress> its = all.nextElement().getInetAddresses(); its.hasMoreElements();) {
                InetAddress address = its.nextElement();
                // UCX has no lanes over link-local addresses.
                if (address instanceof Inet6Address && !address.isLinkLocalAddress()) {
                    try {
                        listen(new InetSocketAddress(address, port));
                    } catch (IOException e) {
                        logger.debug("Not listening on {}, port {}: {}", address, port, e.getMessage());
                    }
                }
            }
        }
    }

    private static IOException bindFailure(InetSocketAddress address, UcxException e) {
        String reason = switch (e.status()) {
            case UcsStatus.ERR_BUSY -> "Address already in use";
            case UcsStatus.ERR_IO_ERROR, UcsStatus.ERR_NO_DEVICE, UcsStatus.ERR_UNREACHABLE ->
                    "Cannot assign requested address: it must be one of this host's";
            default -> e.getMessage();
        };
        BindException failure = new BindException(reason + ": " + address);
        failure.initCause(e);
        return failure;
    }

    private static InetSocketAddress withPortOf(InetSocketAddress address, InetSocketAddress bound) {
        return new InetSocketAddress(address.getAddress(), bound.getPort());
    }

    // ------------------------------------------------------------------------------------------- accepting

    /** Called inside UCX's progress: only takes note. */
    private final class Requests implements ConnectionHandler {

        private InetSocketAddress listening;
        /** {@code null} until the listener has been made, by which time UCX's thread may have seen clients. */
        private volatile Doorkeeper doorkeeper;

        @Override
        public void onConnectionRequest(UcpConnectionRequest request) {
            waiting.add(new IncomingConnection(UcxServerSocketChannel.this, request, listening,
                    doorkeeper.announced(request.clientAddress())));
            schedule();
        }

        @Override
        public boolean isErrorHandlingRequired() {
            return true;
        }

        @Override
        public void onUnintelligibleRequest(String problem) {
            doorkeeper.turnedAway(problem);
        }

        /** On UCX's asynchronous thread, which holds the lock of the worker: no more than counting. */
        @Override
        public void onRepeatedMessage() {
            Doorkeeper known = doorkeeper;
            if (known != null) {
                known.turnedAway("a second message to connect");
            }
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            engine.schedule(this::accept);
        }
    }

    @Override
    protected void doBeginRead() {
        readPending = true;
        if (!waiting.isEmpty()) {
            schedule();
        }
    }

    void autoReadCleared() {
        if (isRegistered()) {
            EventLoop loop = eventLoop();
            if (loop.inEventLoop()) {
                readPending = false;
            } else {
                loop.execute(() -> readPending = config.isAutoRead() && readPending);
            }
        }
    }

    private void accept() {
        scheduled = false;
        if (state != State.LISTENING) {
            return;
        }
        if (!readPending) {
            limitWaiting();
            return;
        }
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.Handle handle = newRead();
        handle.attemptedBytesRead(1);
        Throwable failure = null;
        try {
            do {
                IncomingConnection incoming = waiting.poll();
                if (incoming == null) {
                    break;
                }
                handle.lastBytesRead(1);
                handle.incMessagesRead(1);
                readPending = false;
                handedOut.add(incoming);
                pipeline.fireChannelRead(new UcxSocketChannel(this, incoming));
            } while (state == State.LISTENING && handle.continueReading());
        } catch (Throwable t) {
            failure = t;
        }
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
        }
        if (readPending && !waiting.isEmpty()) {
            schedule();
        }
        limitWaiting();
    }

    /** What the application's allocator throws here is the loop's, as with Netty's transports; requests wait for it. */
    private RecvByteBufAllocator.Handle newRead() {
        boolean begun = false;
        try {
            RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
            handle.reset(config);
            begun = true;
            return handle;
        } finally {
            if (!begun) {
                schedule();
                limitWaiting();
            }
        }
    }

    /** Requests wait: not more than the backlog, and not longer than the handshake timeout. */
    private void limitWaiting() {
        while (waiting.size() > config.getBacklog()) {
            reject(waiting.pollLast(), HandshakeFailure.BACKLOG_FULL);
        }
        dropTaken(handedOut);
        if (!expiryScheduled && !(waiting.isEmpty() && handedOut.isEmpty())) {
            expiryScheduled = true;
            eventLoop().schedule(this::rejectExpired, config.getHandshakeTimeoutMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private static void dropTaken(ArrayDeque<IncomingConnection> requests) {
        while (!requests.isEmpty() && requests.peek().isTaken()) {
            requests.poll();
        }
    }

    private void rejectExpired() {
        expiryScheduled = false;
        if (state == State.LISTENING) {
            rejectOlder(waiting);
            rejectOlder(handedOut);
            limitWaiting();
        }
    }

    private void rejectOlder(ArrayDeque<IncomingConnection> requests) {
        long timeout = TimeUnit.MILLISECONDS.toNanos(config.getHandshakeTimeoutMillis());
        while (!requests.isEmpty() && System.nanoTime() - requests.peek().arrivedNanos() >= timeout) {
            reject(requests.poll(), HandshakeFailure.NOT_ACCEPTED);
        }
    }

    private void reject(IncomingConnection incoming, HandshakeFailure reason) {
        if (!incoming.isTaken()) {
            counters.handshakeFailures().increment(reason);
            FlightEvents.handshakeFailed(null, incoming.remoteAddress(), true, reason, null);
            incoming.rejectIfPending();
        }
    }

    /** From any thread: a child that was not registered, or was closed before it was. */
    void reject(UcpConnectionRequest request) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            rejectNow(request);
        } else {
            try {
                loop.execute(() -> rejectNow(request));
            } catch (RejectedExecutionException e) {
                // The loop has ended, and its listeners have rejected what was pending.
                logger.debug("Not rejecting a connection from {}: the server's loop is gone.",
                        request.clientAddress());
            }
        }
    }

    private static void rejectNow(UcpConnectionRequest request) {
        try {
            request.listener().reject(request);
        } catch (IOException e) {
            logger.debug("Failed to reject a connection from {}.", request.clientAddress(), e);
        } catch (IllegalStateException e) {
            // Taken meanwhile, or the listener has been closed and has rejected it.
            logger.trace("Already rejected: {}", request.clientAddress(), e);
        }
    }

    // ------------------------------------------------------------------------------------------- closing

    @Override
    protected void doClose() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        for (Entrance entrance : entrances) {
            try (Doorkeeper doorkeeper = entrance.doorkeeper()) {
                doorkeeper.turnAllAway();
                // Rejects what is pending.
                entrance.worker().close(entrance.listener());
            } catch (RuntimeException e) {
                // The others are to be closed, too.
                logger.warn("Failed to stop listening on {}.", local, e);
            }
        }
        waiting.forEach(IncomingConnection::serverClosed);
        handedOut.forEach(IncomingConnection::serverClosed);
        waiting.clear();
        handedOut.clear();
        entrances.clear();
    }

    @Override
    protected void doDisconnect() {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        throw new UnsupportedOperationException("a server channel cannot be written to");
    }
}
