// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;
import java.util.function.Supplier;

/** Takes a connection's messages about memory: the types from {@link Tag#MEMORY_REQUEST} to {@link Tag#MEMORY_REVOKED}. */
public interface MemoryMessages {

    /**
     * The handshake is over: messages may be sent.
     *
     * @param peerChannelId for the tags of messages to the peer
     */
    void opened(int peerChannelId);

    /**
     * @param message UCX's handle of the message, which this receives exactly once
     * @throws ProtocolException if the peer must not have sent it; the message has been received
     * @throws OutOfMemoryError if there is no memory for it; the message need not have been received
     */
    void onMessage(int type, int value, long message, long length) throws ProtocolException;

    /** Whether UCX has not completed all that was sent. */
    boolean isSending();

    /** The peer has sent all of the messages that have come: of which a part is not here, that has been lost. */
    void counted();

    /**
     * The connection has been lost, has ended or has been closed: nothing is sent any more. May be told again; the first cause
     * counts.
     *
     * @param cause to be made only if it is needed: most connections have nothing to do with memory, and all end
     */
    void ended(Supplier<IOException> cause);
}
