// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;

/** A connected client, as partitions know it. */
interface Peer {

    /** Goes out at the end of the event loop's turn, with what else there is. */
    void send(Message message);

    /** Closes the connection, behind what has been sent. */
    void disconnect();

    default void fail(int request, ErrorCode code, String text) {
        send(new Message.Failed(request, code, text));
    }
}
