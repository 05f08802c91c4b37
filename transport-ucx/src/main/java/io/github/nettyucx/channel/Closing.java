// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/**
 * How a channel closes: at once, or when what was flushed before has been delivered. In the latter case the application
 * has closed it, and it stays open for the transport.
 */
final class Closing {

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

    /** Whether a close may wait for the peer, if there is something to wait for. */
    boolean mayWait() {
        return !hurried && channel.config().getSoLinger() != 0;
    }

    /**
     * Begins to wait.
     *
     * @param connection {@code null} if the handshake is under way
     * @param closeTask  closes the channel at once
     */
    void begin(OpenConnection connection, Runnable closeTask) {
        linger = new Linger(channel.eventLoop(), channel.config(), closeTask);
        if (connection == null) {
            channel.become(UcxSocketChannel.State.DECLINING);
        } else {
            channel.become(UcxSocketChannel.State.LINGERING);
            opened(connection);
        }
        linger.start();
    }

    /** There is a connection by now, which the application does not want. */
    void opened(OpenConnection connection) {
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

    /** Ends the wait for a peer that has not taken everything, if there is one. */
    void cut() {
        if (channel.isLingering()) {
            linger.end();
        }
    }

    /** The same, if the time for it has come; the loop does not run its timers any more. */
    void checkTimeout() {
        if (channel.isLingering()) {
            linger.checkTimeout();
        }
    }
}
