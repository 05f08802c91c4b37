// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.LoopLanes;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import java.net.SocketAddress;

/**
 * What connections and servers have in common: their addresses, and that they stay with their event loop while they
 * have something that belongs to it: a lane, or a socket in its epoll.
 */
abstract class AbstractUcxChannel extends AbstractChannel {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(AbstractUcxChannel.class);
    private static final AtomicBoolean REFUSAL_TOLD = new AtomicBoolean();
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    volatile InetSocketAddress local;
    volatile InetSocketAddress remote;
    /** Whether it has ever been. Of the event loop's thread. */
    boolean wasActive;
    /** {@code null} without a loop. */
    private LoopRegistration registration;
    /** Whether the last read was begun while auto-read was on, and not because the application asked for just this one. */
    private boolean isAutomaticRead;
    /** The next read is auto-read's own. */
    private volatile boolean switchedOn;

    AbstractUcxChannel(Channel parent) {
        super(parent);
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    // ------------------------------------------------------------------------------------------- addresses

    // Netty's own keep the first answer for ever. Before a channel is connected that is what it was to be bound to, or
    // of an accepted one its server's; after the close it is still the last one, as with Netty's other transports.

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    protected InetSocketAddress localAddress0() {
        return local;
    }

    @Override
    protected InetSocketAddress remoteAddress0() {
        return remote;
    }

    /** A failed connect, after Netty has named the address: it leaves those exceptions alone that are none of java.net's. */
    static Throwable naming(Throwable cause, SocketAddress address) {
        return cause.getClass() == IOException.class ? new IOException(cause.getMessage() + ": " + address, cause) : cause;
    }

    // ------------------------------------------------------------------------------------------- the event loop

    /** Why the channel cannot leave its event loop now; {@code null} if it can. From any thread. */
    abstract String reasonToStay();

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return KnownLoops.isCompatible(loop);
    }

    @Override
    protected void doRegister() throws Exception {
        registration = KnownLoops.register(this);
    }

    /**
     * What the loop has to move bytes with which the channel is registered with.
     *
     * @throws IOException also if there is none: Netty's {@code eventLoop()} is still the last one then, whose thread calls
     */
    LoopLanes loopLanes() throws IOException {
        if (registration == null) {
            throw new IOException("the channel is registered with no event loop");
        }
        return registration.lanes();
    }

    /** Twice, if the channel is closed because of it. */
    @Override
    protected void doDeregister() {
        LoopRegistration ended = registration;
        if (ended != null) {
            registration = null;
            ended.cancel();
        }
    }

    /** Auto-read is being switched on, which reads; when the loop comes to that it can be off again. From any thread. */
    void readsAutomatically() {
        switchedOn = true;
    }

    @Override
    protected final void doBeginRead() {
        // One that the application has asked for, and that has read nothing yet, stays that.
        isAutomaticRead = (switchedOn || config().isAutoRead()) && (isAutomaticRead || !isReadPending());
        switchedOn = false;
        beginRead();
    }

    abstract void beginRead();

    /** Whether a read has been begun, and has read nothing yet. */
    abstract boolean isReadPending();

    /** Auto-read was switched off by another thread, some time ago: the application can have asked for a read since. */
    void cancelAutomaticRead() {
        switchedOn = false;
        if (isAutomaticRead) {
            cancelRead();
        }
    }

    /** Auto-read has been switched off by the channel's loop, or without one. */
    void cancelAnyRead() {
        switchedOn = false;
        cancelRead();
    }

    /** The application does not want to read any more, for now. Only for the channel's loop. */
    abstract void cancelRead();

    /** The loop looks at the channel no more: closes it at once, whatever it still has to deliver. */
    void abandon() {
        unsafe().close(unsafe().voidPromise());
    }

    /** Of a closed channel that is still registered: tells its handlers, which Netty leaves to a task of the loop. */
    void tellEnd() {
        if (tellsInactive()) {
            pipeline().fireChannelInactive();
        }
        pipeline().fireChannelUnregistered();
    }

    /** Whether its handlers are told of its end: they are if it was active. */
    boolean tellsInactive() {
        return wasActive;
    }

    /** After a deregistration by way of the pipeline, where it cannot be refused. */
    void closeDeregistered(String reasonToStay) {
        logger.warn("{} is closed because it was deregistered: {}", this, reasonToStay);
        boolean active = isActive();
        unsafe().close(voidPromise());
        if (active) {
            // Netty would do it after the deregistration, which takes the handlers of a closed channel away.
            pipeline().fireChannelInactive();
        }
    }

    @Override
    public ChannelFuture deregister() {
        return deregister(newPromise());
    }

    /** Is refused while the channel is connected, or bound: what it has of lanes and sockets belongs to its event loop. */
    @Override
    public ChannelFuture deregister(ChannelPromise promise) {
        String reason = reasonToStay();
        if (reason == null || promise.isDone() || promise.channel() != this || promise.isVoid()) {
            // What is wrong with the promise Netty says.
            return super.deregister(promise);
        }
        if (REFUSAL_TOLD.compareAndSet(false, true)) {
            // Whoever has not chosen this transport, and has the agent, learns here what is wrong.
            logger.warn("{} is not deregistered (said once): {}. With the agent, an application that moves connected channels to"
                    + " another event loop needs -Dio.github.nettyucx.agent=off.", this, reason);
        }
        promise.tryFailure(new UnsupportedOperationException(reason));
        return promise;
    }
}
