// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;

/**
 * What a {@link Connection} tells its channel. Called from inside the loop's turn, between messages: the channel takes
 * note, and acts when the loop runs what is ready. Before {@link Connection#open} it can be told of input and of a
 * failure: messages can be there before the connection is open.
 */
public interface ConnectionListener {

    /**
     * The connection has been lost; nothing follows. Told once at most, and not when the peer has gone in good order:
     * then {@link #inputReady()} tells of the end.
     */
    void connectionFailed(IOException cause);

    /** Bytes or the end of the input may be had from {@link Inbound}. */
    void inputReady();

    /** Sends have completed, credit has arrived, or nothing can be sent any more. */
    void outputReady();

    /**
     * The peer has acknowledged that it has everything up to the FIN; or it has gone after the end of its own stream,
     * and cannot any more.
     */
    void outputAcknowledged();
}
