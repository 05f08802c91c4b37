// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Written;
import io.github.nettyucx.socket.DatagramPort;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.SocketWatcher;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Datagrams for handlers that live on the transport's event loops, such as Netty's DNS resolver. UCX has none: these go
 * over the kernel's UDP, so the peer may be anything.
 * <p>
 * The socket is made when the channel is bound or connected, joins, leaves or blocks a group, or, with
 * {@link io.netty.channel.ChannelOption#DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION}, sends for the first time; options that
 * are set before are kept for it. Options, and what may be written, are as with Netty's own datagram channels, with one addition: an
 * empty packet is sent.
 * <p>
 * The threads' rules are Netty's: every method may be called from any thread.
 */
public final class UcxDatagramChannel extends AbstractUcxDatagramChannel {

    private enum State {
        /** Without an address, and perhaps without a socket. */
        UNBOUND,
        BOUND,
        /** Bound, and with a peer. */
        CONNECTED,
        CLOSED
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxDatagramChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(true, 16);
    /** As long as Netty's own loops rest. */
    private static final long REST_SECONDS = 1;
    /** Any address, and a port of the system's choice. */
    private static final InetSocketAddress ANY = new InetSocketAddress(0);

    private final boolean ipv6;
    private final UcxDatagramChannelConfig config;
    private final DatagramInput input = new DatagramInput(this);
    private final DatagramOutput output = new DatagramOutput();
    private volatile State state = State.UNBOUND;

    // Of the thread of the loop.
    private KernelSocket socket;
    /** The same, as it is read from and written to; a test may take its place. */
    DatagramPort port;
    /** {@code null} without a socket, or without a loop. */
    private Watch watch;

    /** For IPv4 and IPv6, or what the machine has of them. */
    public UcxDatagramChannel() {
        this(null);
    }

    /**
     * @param family {@link StandardProtocolFamily#INET}, {@link StandardProtocolFamily#INET6} (which has IPv4 as
     *               well), or {@code null} for both if the machine has both
     * @throws UnsupportedOperationException if the machine has no such family
     */
    public UcxDatagramChannel(ProtocolFamily family) {
        boolean available = KernelSocket.isIpv6Available();
        if (family == null) {
            ipv6 = available;
        } else if (family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6 && available) {
            ipv6 = family == StandardProtocolFamily.INET6;
        } else {
            throw new UnsupportedOperationException("datagrams of the family " + family.name());
        }
        config = new UcxDatagramChannelConfig(this);
    }

    // ------------------------------------------------------------------------------------------- as Netty sees it

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new DatagramUnsafe();
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public DatagramChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        return switch (state) {
            case UNBOUND -> config.isActiveOnRegistration() && isRegistered();
            case BOUND, CONNECTED -> true;
            case CLOSED -> false;
        };
    }

    @Override
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    // ------------------------------------------------------------------------------------------- the event loop

    /** Nothing of a worker's belongs to it: it may go on with another loop. */
    @Override
    String reasonToStay() {
        return null;
    }

    @Override
    protected void doRegister() throws Exception {
        super.doRegister();
        if (socket != null) {
            try {
                startWatch();
                // What the loop before was still to send.
                watch.schedule();
            } catch (IOException e) {
                // A channel whose registration fails is closed, but never deregistered.
                super.doDeregister();
                throw e;
            }
        }
    }

    @Override
    protected void doDeregister() {
        endWatch();
        super.doDeregister();
    }

    private void startWatch() throws IOException {
        Watch fresh = new Watch(loopLanes().engine());
        fresh.begin();
        watch = fresh;
    }

    private void endWatch() {
        if (watch != null) {
            watch.end();
            watch = null;
        }
    }

    /** The socket as one loop sees it. The channel may leave the loop, which then still has what it was to do. */
    private final class Watch implements SocketWatcher, Runnable {

        private final ProgressEngine engine;
        /** Whether the loop is told of room: of every datagram that has been sent, so only while one waits for it. */
        private boolean forRoom;
        private boolean scheduled;
        /** The application's allocator has refused a read: the next one waits, for the loop has others to serve. */
        private boolean resting;
        private boolean ended;

        Watch(ProgressEngine engine) {
            this.engine = engine;
        }

        void begin() throws IOException {
            engine.watch(socket, (forRoom ? Epoll.IN | Epoll.OUT : Epoll.IN) | Epoll.EDGE, this);
        }

        void end() {
            ended = true;
            engine.unwatch(socket);
        }

        void awaitRoom(boolean awaited) throws IOException {
            if (forRoom != awaited) {
                forRoom = awaited;
                // What is there when the watch begins anew comes as an event.
                engine.unwatch(socket);
                begin();
            }
        }

        void schedule() {
            if (!scheduled) {
                scheduled = true;
                engine.schedule(this);
            }
        }

        @Override
        public void socketReady(int events) {
            if ((events & Epoll.OUT) != 0) {
                output.roomHasCome();
                schedule();
            }
            if ((events & ~Epoll.OUT) != 0) {
                input.arrived();
                scheduleRead();
            }
        }

        void scheduleRead() {
            if (!resting && input.isDue()) {
                schedule();
            }
        }

        private void rest() {
            if (ended) {
                // Closed by whoever was told.
                return;
            }
            resting = true;
            eventLoop().schedule(() -> {
                resting = false;
                if (!ended) {
                    scheduleRead();
                }
            }, REST_SECONDS, TimeUnit.SECONDS);
        }

        @Override
        public void run() {
            scheduled = false;
            try {
                advance();
            } catch (Throwable e) {
                faulted(e);
            }
        }

        @Override
        public void faulted(Throwable cause) {
            logger.warn("{} is closed because of an unexpected exception.", UcxDatagramChannel.this, cause);
            pipeline().fireExceptionCaught(cause);
            unsafe().close(unsafe().voidPromise());
        }

        private void advance() {
            if (!ended) {
                ((DatagramUnsafe) unsafe()).flushNow();
            }
            if (!ended && !resting && input.isDue()) {
                readNow();
            }
            if (!ended) {
                scheduleRead();
            }
        }

        private void readNow() {
            switch (input.read(port)) {
                case PACKETS -> engine.noteSocketWork();
                case REFUSED -> rest();
                case NOTHING -> {
                    // The socket tells when there is something.
                }
            }
        }
    }

    // ------------------------------------------------------------------------------------------- opening and closing

    private KernelSocket openSocket() throws IOException {
        if (socket == null) {
            KernelSocket fresh = KernelSocket.datagram(ipv6);
            try {
                config.applyTo(fresh);
                socket = fresh;
                // A channel that has left its loop goes on with the next one, which begins to watch then.
                if (isRegistered()) {
                    startWatch();
                }
            } catch (Throwable t) {
                socket = null;
                fresh.close();
                throw t;
            }
            port = fresh;
        }
        return socket;
    }

    @Override
    protected void doBind(SocketAddress address) throws IOException {
        if (state != State.UNBOUND) {
            throw new AlreadyBoundException();
        }
        InetSocketAddress wanted = address == null ? ANY : ClientOpening.checked(address);
        openSocket().bind(wanted);
        bound();
    }

    private void bound() throws IOException {
        local = socket.localAddress();
        state = State.BOUND;
    }

    private void connect(InetSocketAddress to) throws IOException {
        boolean mayHaveReceived = state == State.BOUND;
        openSocket().connect(to);
        InetSocketAddress peer = socket.remoteAddress();
        if (mayHaveReceived) {
            input.connected(peer);
        }
        local = socket.localAddress();
        remote = to;
        state = State.CONNECTED;
    }

    @Override
    protected void doDisconnect() throws IOException {
        if (state != State.CONNECTED) {
            return;
        }
        input.disconnected();
        remote = null;
        // Until it is known that the port has been kept, see KernelSocket: another socket may have taken it.
        state = State.UNBOUND;
        socket.disconnect();
        bound();
    }

    @Override
    protected void doClose() {
        if (state == State.CLOSED) {
            return;
        }
        wasActive = isActive();
        state = State.CLOSED;
        endWatch();
        if (socket != null) {
            socket.close();
        }
    }

    private final class DatagramUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            boolean wasActive = isActive();
            boolean begun = false;
            try {
                if (state == State.CONNECTED) {
                    throw new AlreadyConnectedException();
                }
                InetSocketAddress to = ClientOpening.checked(remoteAddress);
                if (localAddress != null) {
                    doBind(localAddress);
                }
                begun = true;
                UcxDatagramChannel.this.connect(to);
            } catch (Throwable t) {
                if (begun) {
                    // As one of Netty's other transports. Nobody hears of the end of what was only to be connected.
                    if (!wasActive) {
                        doClose();
                    }
                    close(voidPromise());
                }
                promise.tryFailure(naming(annotateConnectException(t, remoteAddress), remoteAddress));
                return;
            }
            promise.trySuccess();
            if (!wasActive && isActive()) {
                pipeline().fireChannelActive();
            }
        }

        void flushNow() {
            flush0();
        }

        boolean isOpenFor(ChannelPromise promise) {
            return ensureOpen(promise);
        }
    }

    // ------------------------------------------------------------------------------------------- reading and writing

    @Override
    void beginRead() {
        input.beginRead();
        if (watch != null) {
            watch.scheduleRead();
        }
    }

    @Override
    boolean isReadPending() {
        return input.isReadPending();
    }

    @Override
    void cancelRead() {
        input.cancelRead();
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        return DatagramOutput.checked(message, alloc());
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws IOException {
        if (state == State.UNBOUND) {
            try {
                doBind(ANY);
            } catch (IOException e) {
                // There may be descriptors, or ports, for the packets that come later.
                if (!ChannelOutput.failFlushed(in, e)) {
                    eventLoop().execute(((DatagramUnsafe) unsafe())::flushNow);
                }
                return;
            }
        }
        Written written = output.write(in, port, state == State.CONNECTED, maxMessagesPerWrite());
        if (watch == null) {
            // Closed by whoever was told of a promise.
            return;
        }
        watch.awaitRoom(written == Written.WAITING);
        if (written == Written.AGAIN) {
            watch.schedule();
        }
    }

    // ------------------------------------------------------------------------------------------- options

    boolean isIpv6() {
        return ipv6;
    }

    @FunctionalInterface
    interface SocketTask {
        void run(KernelSocket socket) throws IOException;
    }

    /**
     * Has the loop do something to the socket, if there is one. Any thread may call; on the loop's own it is done at
     * once.
     *
     * @throws IOException on the loop's own thread; from others, a failure is logged
     */
    void onSocket(SocketTask task) throws IOException {
        if (isRegistered() && !eventLoop().inEventLoop()) {
            try {
                eventLoop().execute(() -> onSocketOrLog(task));
            } catch (RejectedExecutionException e) {
                // The loop has ended, and has closed the channel; or it has no room, and the caller has to know.
                if (!eventLoop().isShutdown()) {
                    throw e;
                }
            }
        } else if (socket != null && isOpen()) {
            task.run(socket);
        }
    }

    private void onSocketOrLog(SocketTask task) {
        try {
            onSocket(task);
        } catch (IOException e) {
            logger.warn("{} keeps an option of its socket as it was: {}", this, e.getMessage());
        }
    }

    // ------------------------------------------------------------------------------------------- multicast

    @Override
    void change(InetAddress group, NetworkInterface device, ChannelPromise promise, Membership membership) {
        if (!promise.setUncancellable() || !((DatagramUnsafe) unsafe()).isOpenFor(promise)) {
            return;
        }
        try {
            if (!group.isMulticastAddress()) {
                throw new IllegalArgumentException("not a multicast address: " + group);
            }
            NetworkInterface used = device != null ? device : defaultDevice();
            membership.change(openSocket(), used == null ? 0 : used.getIndex());
            promise.trySuccess();
        } catch (IOException | RuntimeException e) {
            promise.tryFailure(e);
        }
    }

    /** As Netty's others: what is set, then that of the channel's address. The kernel chooses where this is {@code null}. */
    private NetworkInterface defaultDevice() throws IOException {
        NetworkInterface set = config.getNetworkInterface();
        InetSocketAddress bound = local;
        return set != null || bound == null || bound.getAddress().isAnyLocalAddress() ? set
                : NetworkInterface.getByInetAddress(bound.getAddress());
    }
}
