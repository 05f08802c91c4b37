// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.Announcement;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.SocketWatcher;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.util.concurrent.TimeUnit;

/**
 * A {@link ServerSocketChannel} that accepts {@link UcxSocketChannel}s. Use it with a {@link UcxEventLoopGroup}, or
 * with a {@code UcxIoHandler} on Netty 4.2; its children may be registered with another group.
 * <p>
 * It listens on a kernel socket: clients of this transport and ordinary TCP clients come to the same port. A wildcard
 * address accepts connections over IPv4 and over IPv6, unless the channel is made for IPv4 alone.
 */
// RecvByteBufAllocator.Handle is deprecated for users, not for transports.
@SuppressWarnings("deprecation")
public final class UcxServerSocketChannel extends AbstractUcxChannel
        implements ServerSocketChannel, SocketWatcher {

    private enum State {
        UNBOUND, LISTENING, CLOSED
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxServerSocketChannel.class);
    private static final String BELONGS_TO_LOOP = "a listening socket cannot leave its event loop, which watches it;"
            + " close the channel, or keep it registered";

    /** A server whose name another one has looks no more often whether it is free. */
    private static final long ANNOUNCE_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final boolean ipv4Only;
    private final UcxServerSocketChannelConfig config = new UcxServerSocketChannelConfig(this);
    private volatile State state = State.UNBOUND;

    private ProgressEngine engine;
    private KernelSocket socket;
    /** What tells processes of this host that peers are welcome here; {@code null} as long as that cannot be told. */
    private Announcement announcement;
    /** What is announced: the address as the kernel says it. */
    private InetSocketAddress bound;
    private long announcedNanos;
    /** Whether there may be connections to accept: the kernel tells it once. */
    private boolean connectionsWait;
    private boolean readPending;
    private boolean scheduled;

    /** For IPv4 and IPv6, or what the machine has of them. */
    public UcxServerSocketChannel() {
        this(null);
    }

    /**
     * @param family {@link StandardProtocolFamily#INET} for IPv4 alone, {@link StandardProtocolFamily#INET6} (which has
     *               IPv4 as well), or {@code null} for both if the machine has both
     * @throws UnsupportedOperationException if the machine has no such family
     */
    public UcxServerSocketChannel(ProtocolFamily family) {
        super(null);
        if (family != null && family != StandardProtocolFamily.INET
                && !(family == StandardProtocolFamily.INET6 && KernelSocket.isIpv6Available())) {
            throw new UnsupportedOperationException("a server of the family " + family.name());
        }
        ipv4Only = family == StandardProtocolFamily.INET;
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
        InetSocketAddress wanted = ClientOpening.checked(localAddress);
        if (state != State.UNBOUND) {
            throw new IllegalStateException("already bound to " + local);
        }
        engine = loopLanes().engine();
        KernelSocket listening = KernelSocket.stream(!ipv4Only && KernelSocket.needsIpv6(wanted.getAddress()));
        try {
            config.socketOptions().applyTo(listening);
            listening.bind(wanted);
            bound = listening.localAddress();
            // Before anybody can connect who looks whether it is there.
            announce();
            listening.listen(config.getBacklog());
            engine.watch(listening, Epoll.IN | Epoll.EDGE, this);
            // The address as it was asked for, a wildcard of either family, with the port that the kernel has chosen.
            local = ipv4Only ? bound : new InetSocketAddress(wanted.getAddress(), bound.getPort());
        } catch (Throwable t) {
            withdraw();
            engine.unwatch(listening);
            config.socketOptions().detach();
            listening.close();
            if (t instanceof BindException e) {
                String hint = e.getMessage().startsWith("Cannot assign") ? ": it must be one of this host's: " : ": ";
                throw (BindException) new BindException(e.getMessage() + hint + wanted).initCause(e);
            }
            throw t;
        }
        socket = listening;
        state = State.LISTENING;
        wasActive = true;
    }

    private void announce() {
        announcedNanos = System.nanoTime();
        announcement = Announcement.open(bound);
    }

    private void withdraw() {
        if (announcement != null) {
            announcement.close();
            announcement = null;
        }
    }

    /**
     * Where servers share a port, the one that was there first has the name. When it has gone, clients that look for the
     * name come as ordinary ones, and nothing tells of it: so it is tried again when somebody comes.
     */
    private void announceLate() {
        if (announcement == null && System.nanoTime() - announcedNanos >= ANNOUNCE_AGAIN_NANOS) {
            announce();
        }
    }

    // ------------------------------------------------------------------------------------------- accepting

    @Override
    public void socketReady(int events) {
        connectionsWait = true;
        if (readPending) {
            schedule();
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            engine.schedule(this::accept);
        }
    }

    @Override
    void beginRead() {
        readPending = true;
        if (connectionsWait) {
            schedule();
        }
    }

    @Override
    boolean isReadPending() {
        return readPending;
    }

    @Override
    void cancelRead() {
        readPending = false;
    }

    private void accept() {
        scheduled = false;
        if (state != State.LISTENING || !readPending) {
            return;
        }
        Throwable failure = null;
        try {
            acceptAll();
        } catch (Throwable t) {
            // Connections still wait where it was for want of descriptors, or the application's allocator has thrown: the
            // next read tries again. A ServerBootstrap pauses for a second before.
            readPending = false;
            failure = t;
        }
        pipeline().fireChannelReadComplete();
        if (failure != null) {
            pipeline().fireExceptionCaught(failure);
        }
        if (readPending && connectionsWait) {
            schedule();
        }
    }

    private void acceptAll() throws IOException {
        RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
        handle.reset(config);
        handle.attemptedBytesRead(1);
        try {
            do {
                KernelSocket accepted = socket.accept();
                if (accepted == null) {
                    connectionsWait = false;
                    break;
                }
                UcxSocketChannel child = child(accepted);
                if (child != null) {
                    try {
                        handle.lastBytesRead(1);
                        handle.incMessagesRead(1);
                    } finally {
                        // Whatever the application's allocator throws: the connection is there.
                        readPending = false;
                        announceLate();
                        pipeline().fireChannelRead(child);
                    }
                }
            } while (state == State.LISTENING && handle.continueReading());
        } finally {
            handle.readComplete();
        }
    }

    /** @return {@code null} if the client has gone already */
    private UcxSocketChannel child(KernelSocket accepted) {
        UcxSocketChannel child = null;
        try {
            child = new UcxSocketChannel(this, accepted, accepted.localAddress(), accepted.remoteAddress());
            child.config().inherit(config);
        } catch (IOException e) {
            logger.debug("A connection that was accepted has gone.", e);
        } finally {
            if (child == null) {
                accepted.close();
            }
        }
        return child;
    }

    // ------------------------------------------------------------------------------------------- closing

    @Override
    protected void doClose() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        withdraw();
        if (socket != null) {
            config.socketOptions().detach();
            engine.unwatch(socket);
            socket.close();
            socket = null;
        }
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
