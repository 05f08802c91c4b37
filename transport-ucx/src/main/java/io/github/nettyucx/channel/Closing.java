// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Departure;
import io.github.nettyucx.lane.LoopLanes;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * How a channel closes.
 * <p>
 * If everything that was flushed has been sent, it is closed at once for the application, as with a kernel's socket, and
 * the peer is told of the end in the background: the channel departs. Otherwise, or with {@code SO_LINGER}, it stays open
 * until that has been delivered: the channel lingers.
 * <p>
 * An accepted channel closes in the same two ways while its handshake is under way. A kernel's client is connected by then,
 * and sees an orderly end. So the handshake goes on, and the client is told over the connection that comes out of it. That
 * is the socket, unless the two have agreed on a link before: see {@link ServerOpening}.
 */
final class Closing implements Departure {

    /** Of Netty's bits for applications. */
    private static final int LAST_USER_DEFINED = 31;

    private final UcxSocketChannel channel;
    /** {@code null} if there was nothing to wait for so far. */
    private Linger linger;
    /** Nobody has the time: the loop looks at the channel no more, or cannot trust it. */
    private boolean hurried;

    Closing(UcxSocketChannel channel) {
        this.channel = channel;
    }

    /** From now on a close does not wait. */
    void hurry() {
        hurried = true;
    }

    /** Whether a close may wait for the peer, and there is a peer to wait for. */
    private boolean mayWait(OpenConnection connection) {
        return !hurried && channel.config().getSoLinger() != 0 && (connection == null || connection.mustLinger());
    }

    /** Whether everything that was flushed has been sent; before the handshake is over nothing has. */
    private boolean isDrained(OpenConnection connection) {
        return connection == null ? channel.writes() == null || channel.writes().isEmpty()
                : connection.output().isDrained();
    }

    /**
     * Whether a close has to wait until what was flushed has been delivered.
     *
     * @param connection {@code null} if the handshake is under way
     */
    boolean lingers(OpenConnection connection) {
        return mayWait(connection)
                && (!isDrained(connection) || channel.config().getSoLinger() > 0 || OrderlyExit.hasBegun());
    }

    /**
     * Whether nothing is left after a close but to tell the peer.
     *
     * @param connection {@code null} if the handshake is under way
     */
    boolean departs(OpenConnection connection) {
        return mayWait(connection) && isDrained(connection);
    }

    /**
     * Begins to wait.
     *
     * @param connection {@code null} if the handshake is under way
     * @param closeTask  closes the channel at once
     */
    void begin(OpenConnection connection, Runnable closeTask) {
        linger = new Linger(channel.eventLoop(), channel.config(), closeTask);
        ChannelOutboundBuffer writes = channel.writes();
        if (writes != null && !writes.isWritable()) {
            // What is delivered would make it writable, which a channel that is closed is not.
            writes.setUserDefinedWritability(LAST_USER_DEFINED, false);
        }
        if (connection == null) {
            channel.become(ChannelState.DECLINING);
            OrderlyExit.add(channel);
        } else {
            channel.become(ChannelState.LINGERING);
            opened(connection);
        }
        linger.start();
    }

    /**
     * The channel is closed: begins to tell the peer.
     *
     * @param connection {@code null} if the handshake is under way
     * @param ended is run when the peer knows, or its time is over
     */
    void depart(OpenConnection connection, LoopLanes loop, Runnable ended) {
        loop.departs(this);
        linger = new Linger(channel.eventLoop(), channel.config(), () -> {
            loop.departed(this);
            ended.run();
        });
        channel.become(ChannelState.DEPARTING);
        if (connection != null) {
            opened(connection);
        }
        linger.start();
    }

    /** There is a connection to tell the peer by, which the application does not want, or not any more. */
    void opened(OpenConnection connection) {
        if (!channel.isOpen()) {
            // At once: a process that is killed right after a close has delivered it, where the peer has it then.
            connection.leave();
        }
        linger.opened(connection.lane(), connection.output());
    }

    /** Whether a close has waited, or does. */
    boolean hasWaited() {
        return linger != null;
    }

    /** The connection can go on. */
    void advance() {
        linger.advance();
    }

    /** {@inheritDoc} */
    @Override
    public void cut() {
        if (channel.isLingering()) {
            linger.end();
        }
    }

    /** {@inheritDoc} */
    @Override
    public void checkTimeout() {
        if (channel.isLingering()) {
            linger.checkTimeout();
        }
    }
}
