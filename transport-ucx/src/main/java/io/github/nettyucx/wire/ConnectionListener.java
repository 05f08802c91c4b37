// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;

/**
 * What a {@link Connection} tells its channel. Called from inside the loop's turn, between messages: the channel takes
 * note, and acts when the loop runs what is ready.
 */
public interface ConnectionListener {

    /** Both HELLOs have been exchanged; bytes may be written. */
    void connectionOpened();

    /** The connection cannot be made, or has been lost; nothing follows. */
    void connectionFailed(IOException cause);

    /** Bytes or the end of the input may be had from {@link Inbound}. */
    void inputReady();

    /** Sends have completed, or credit has arrived. */
    void outputReady();

    /**
     * The peer has acknowledged that it has everything up to the FIN; or it has gone after the end of its own stream,
     * and cannot any more.
     */
    void outputAcknowledged();
}
