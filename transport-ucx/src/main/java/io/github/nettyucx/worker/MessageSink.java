// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/** Takes the messages that carry one channel id, in the order in which the peer sent them. */
@FunctionalInterface
public interface MessageSink {

    /**
     * @param tag     the message's whole tag
     * @param message UCX's handle of the message, which must be received exactly once
     * @param length  of the message, in bytes
     */
    void onMessage(long tag, long message, long length);

    /**
     * {@link #onMessage} has thrown this, which has been logged; the turn of the others goes on. A message that has not been
     * received when this returns is received for nobody, and the sink must not receive it any more.
     */
    default void onMessageThrew(Throwable cause) {
        // It takes the next message.
    }
}
