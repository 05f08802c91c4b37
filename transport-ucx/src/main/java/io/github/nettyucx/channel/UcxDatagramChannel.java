// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.internal.StringUtil;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Datagrams for handlers that live on a {@link UcxEventLoopGroup}, such as Netty's DNS resolver.
 * <p>
 * UCX has no datagrams: these go over the kernel's UDP, so the peer may be anything. The socket is driven by a thread
 * that all channels of this class share, named {@code ucx-datagrams}, which runs as long as one of them is open; the
 * pipeline runs on the channel's own loop. Each packet crosses from one thread to the other, so this is made for
 * services beside the data, and not for speed.
 * <p>
 * Options, and what may be written, are as with {@link NioDatagramChannel}.
 */
public final class UcxDatagramChannel extends AbstractChannel implements DatagramChannel {

    private static final ChannelMetadata METADATA = new ChannelMetadata(true);
    /** How long a close waits at most for the socket to take what was flushed before; it rarely has to wait at all. */
    private static final long CLOSE_TIMEOUT_MILLIS = 1000;

    private final java.nio.channels.DatagramChannel socket;
    /** Reads and writes. It is asked from any thread; bind, connect and options go to the socket itself. */
    private final NioDatagramChannel nio;
    private final UcxDatagramChannelConfig config;
    /** A loop closes the channels that it drives itself when it ends, and not this one. */
    private final Runnable closeWithLoop = this::closeNow;
    private boolean driven;
    private volatile boolean closed;
    /** Netty's, which takes it from the channel when that closes. */
    private ChannelOutboundBuffer writes;
    /** Messages at the head of the outbound buffer that {@link #nio} has been given. */
    private int handedOver;
    /** Netty's, which closes the channel: of a close that waits for these messages. */
    private Runnable closeTask;
    private Future<?> closeTimeout;

    /** The application waits for a read. */
    private boolean demand;
    /** {@link #nio} has been told to read, and what it has read has not been handed up. */
    private boolean asked;
    /** What it has read with that; kept if the application does not want it any more. */
    private final ArrayDeque<Object> received = new ArrayDeque<>();
    private boolean complete;

    /**
     * For IPv4 and IPv6, or what the JDK has of them.
     *
     * @throws ChannelException if there is no socket to be had
     */
    public UcxDatagramChannel() {
        this(null);
    }

    /**
     * @param family {@link java.net.StandardProtocolFamily#INET} or {@link java.net.StandardProtocolFamily#INET6};
     *               {@code null} for the JDK's choice. Joining a multicast group needs one.
     * @throws ChannelException              if there is no socket to be had
     * @throws UnsupportedOperationException if the machine has no such family
     */
    public UcxDatagramChannel(ProtocolFamily family) {
        super(null);
        try {
            socket = family == null ? java.nio.channels.DatagramChannel.open()
                    : java.nio.channels.DatagramChannel.open(family);
        } catch (IOException e) {
            throw new ChannelException("no datagram socket can be opened", e);
        }
        nio = new NioDatagramChannel(socket);
        // It has to read when it is told to, and to send even if this channel was never bound.
        nio.config().setAutoRead(false);
        nio.config().setOption(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION, true);
        nio.pipeline().addLast(new Forwarder());
        config = new UcxDatagramChannelConfig(this, socket.socket(), nio.config());
    }

    // ------------------------------------------------------------------------------------------- as Netty sees it

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new DatagramUnsafe();
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
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
        return !closed && socket.isOpen();
    }

    @Override
    public boolean isActive() {
        return isOpen() && (config.isActiveOnRegistration() && isRegistered() || socket.socket().isBound());
    }

    @Override
    public boolean isConnected() {
        return socket.isConnected();
    }

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    @Override
    protected SocketAddress localAddress0() {
        return socket.socket().getLocalSocketAddress();
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return socket.socket().getRemoteSocketAddress();
    }

    @Override
    protected void doRegister() {
        if (eventLoop() instanceof SingleThreadEventExecutor loop) {
            loop.addShutdownHook(closeWithLoop);
        }
        if (driven) {
            return;
        }
        driven = true;
        EventLoop loop = DatagramLoop.acquire();
        nio.closeFuture().addListener(closed -> DatagramLoop.release());
        loop.register(nio).addListener(registered -> {
            if (!registered.isSuccess()) {
                execute(() -> pipeline().fireExceptionCaught(registered.cause()));
            }
        });
        nio.closeFuture().addListener(closed -> execute(closeWithLoop));
    }

    @Override
    protected void doDeregister() {
        if (eventLoop() instanceof SingleThreadEventExecutor loop) {
            loop.removeShutdownHook(closeWithLoop);
        }
        if (closeTask != null) {
            boolean active = isActive();
            finishClose();
            if (active) {
                // Netty would do it after the deregistration, which takes the handlers of a closed channel away.
                pipeline().fireChannelInactive();
            }
        }
    }

    /** What the socket's channel takes; there it would fail out of turn, before earlier packets. */
    @Override
    protected Object filterOutboundMessage(Object message) {
        if (message instanceof AddressedEnvelope<?, ?> envelope) {
            if (envelope.recipient() instanceof InetSocketAddress recipient && recipient.isUnresolved()) {
                throw new UnresolvedAddressException();
            }
            if (envelope.content() instanceof ByteBuf) {
                return message;
            }
        } else if (message instanceof ByteBuf) {
            return message;
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(message)
                + " (expected: DatagramPacket, AddressedEnvelope<ByteBuf, SocketAddress>, ByteBuf)");
    }

    @Override
    protected void doBind(SocketAddress local) throws IOException {
        socket.bind(local);
    }

    @Override
    protected void doDisconnect() throws IOException {
        socket.disconnect();
    }

    @Override
    protected void doClose() throws IOException {
        closed = true;
        releaseReceived();
        if (driven) {
            nio.close();
        } else {
            socket.close();
        }
    }

    private void closeNow() {
        if (closeTask == null) {
            unsafe().close(voidPromise());
        } else {
            finishClose();
        }
    }

    private void closeWhenWritten(Runnable task) {
        closeTask = task;
        releaseReceived();
        closeTimeout = eventLoop().schedule(this::finishClose, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void finishClose() {
        Runnable task = closeTask;
        if (task == null) {
            return;
        }
        closeTask = null;
        closeTimeout.cancel(false);
        task.run();
        // Netty leaves it to a task, which a loop that ends does not take.
        ChannelOutput.failAll(writes, new ClosedChannelException());
    }

    @Override
    protected void doBeginRead() {
        if (!isReading()) {
            return;
        }
        demand = true;
        if (!asked) {
            asked = true;
            nio.read();
        } else if (complete) {
            // Not from here: it may be called from a handler that is not to be called again meanwhile.
            execute(this::handUp);
        }
    }

    /** The application does not want to read any more, for now. */
    void cancelRead() {
        EventLoop loop = eventLoop();
        if (!loop.inEventLoop()) {
            execute(this::cancelRead);
        } else if (!config.isAutoRead()) {
            // Not switched on again meanwhile.
            demand = false;
        }
    }

    /** What one read has brought. */
    private void handUp() {
        if (!demand || !complete) {
            return;
        }
        demand = false;
        asked = false;
        complete = false;
        for (Object message = received.poll(); message != null; message = received.poll()) {
            pipeline().fireChannelRead(message);
        }
        if (isReading()) {
            pipeline().fireChannelReadComplete();
        }
    }

    private void releaseReceived() {
        for (Object message = received.poll(); message != null; message = received.poll()) {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
        writes = buffer;
        int before = handedOver;
        int[] index = {0};
        buffer.forEachFlushedMessage(message -> {
            if (index[0]++ >= before) {
                handedOver++;
                nio.write(ReferenceCountUtil.retain(message)).addListener(written ->
                        execute(() -> written(written.cause())));
            }
            return true;
        });
        nio.flush();
    }

    /** Of the first message that was handed over: their order is kept. */
    private void written(Throwable failure) {
        handedOver--;
        if (closed) {
            // The promise fails with that.
            return;
        }
        if (failure == null) {
            writes.remove();
        } else {
            writes.remove(failure);
        }
        if (handedOver == 0) {
            finishClose();
        }
    }

    /** Runs something on this channel's loop; false if that has ended. */
    private boolean execute(Runnable task) {
        try {
            eventLoop().execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private final class DatagramUnsafe extends AbstractUnsafe {

        @Override
        protected Executor prepareToClose() {
            // These packets go out in any case, and their promises are to say so, as with a socket of the loop's own.
            return handedOver > 0 && !eventLoop().isShuttingDown() ? UcxDatagramChannel.this::closeWhenWritten : null;
        }

        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            boolean wasActive = isActive();
            try {
                if (local != null) {
                    doBind(local);
                }
                socket.connect(remote);
            } catch (Throwable t) {
                promise.tryFailure(annotateConnectException(t, remote));
                closeIfClosed();
                return;
            }
            promise.trySuccess();
            if (!wasActive && isActive()) {
                pipeline().fireChannelActive();
            }
        }
    }

    /** Whether anything may be fired up the pipeline. */
    private boolean isReading() {
        return isOpen() && closeTask == null;
    }

    /** Takes what has been received to the channel's own loop. */
    private final class Forwarder extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (!execute(() -> keep(message))) {
                ReferenceCountUtil.release(message);
            }
        }

        private void keep(Object message) {
            if (isReading()) {
                received.add(message);
            } else {
                ReferenceCountUtil.release(message);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            execute(() -> {
                // Otherwise it has read nothing, and is still about to.
                complete = !received.isEmpty();
                handUp();
            });
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            execute(() -> {
                if (isReading()) {
                    pipeline().fireExceptionCaught(cause);
                }
            });
        }
    }

    // --------------------------------------------------------------------------------------------------- multicast

    /** The socket's, which does it at once; only the promise is another channel's. */
    private ChannelFuture onSocket(ChannelPromise promise, Function<ChannelPromise, ChannelFuture> operation) {
        operation.apply(nio.newPromise()).addListener(done -> {
            if (done.isSuccess()) {
                promise.trySuccess();
            } else {
                promise.tryFailure(done.cause());
            }
        });
        return promise;
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group) {
        return joinGroup(group, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, ChannelPromise promise) {
        return onSocket(promise, done -> nio.joinGroup(group, done));
    }

    @Override
    public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface device) {
        return joinGroup(group, device, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface device, ChannelPromise promise) {
        return onSocket(promise, done -> nio.joinGroup(group, device, done));
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, NetworkInterface device, InetAddress source) {
        return joinGroup(group, device, source, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, NetworkInterface device, InetAddress source,
                                   ChannelPromise promise) {
        return onSocket(promise, done -> nio.joinGroup(group, device, source, done));
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group) {
        return leaveGroup(group, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, ChannelPromise promise) {
        return onSocket(promise, done -> nio.leaveGroup(group, done));
    }

    @Override
    public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface device) {
        return leaveGroup(group, device, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface device, ChannelPromise promise) {
        return onSocket(promise, done -> nio.leaveGroup(group, device, done));
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, NetworkInterface device, InetAddress source) {
        return leaveGroup(group, device, source, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, NetworkInterface device, InetAddress source,
                                    ChannelPromise promise) {
        return onSocket(promise, done -> nio.leaveGroup(group, device, source, done));
    }

    @Override
    public ChannelFuture block(InetAddress group, NetworkInterface device, InetAddress source) {
        return block(group, device, source, newPromise());
    }

    @Override
    public ChannelFuture block(InetAddress group, NetworkInterface device, InetAddress source,
                               ChannelPromise promise) {
        return onSocket(promise, done -> nio.block(group, device, source, done));
    }

    @Override
    public ChannelFuture block(InetAddress group, InetAddress source) {
        return block(group, source, newPromise());
    }

    @Override
    public ChannelFuture block(InetAddress group, InetAddress source, ChannelPromise promise) {
        return onSocket(promise, done -> nio.block(group, source, done));
    }
}
