// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Is told what happens beside messages; on an event loop, so it must not block. {@link #failed} is called where the failure
 * is: also on threads of the node's executor, on one that sends, and on the one that closes the node, at the same time.
 */
public interface NodeListener {

    /**
     * Messages are not known to have reached the peer's handlers, and are not sent again. They are those whose ticket, as
     * {@link Peer#send} has returned it, is within the range. What was on its way when a connection was lost may have
     * arrived nevertheless.
     *
     * @param from  the first ticket
     * @param to    behind the last ticket
     * @param cause why
     */
    default void undelivered(Peer peer, long from, long to, Throwable cause) {
    }

    /**
     * There is a connection to the peer, after there was none. This and {@link #disconnected} of a peer are told in the
     * order in which it was so, one after the other.
     */
    default void connected(Peer peer) {
    }

    /**
     * There is no connection to the peer any more. The next message makes one.
     *
     * @param cause why it was lost, or {@code null} if it was closed in good order: each of the nodes has said so
     */
    default void disconnected(Peer peer, Throwable cause) {
    }

    /** A codec could not read a message, nobody handles its type, a handler has thrown or the executor has rejected it, or
     * the callback of a request of this type has thrown. By default it is logged. */
    default void failed(Peer peer, int type, Throwable cause) {
        Node.LOGGER.warn("A message of type {} from node {} was not handled.", type, peer.id(), cause);
    }
}
