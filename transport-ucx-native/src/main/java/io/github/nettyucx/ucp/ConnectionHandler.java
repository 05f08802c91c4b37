// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** Learns that somebody wants to connect to a listener. */
@FunctionalInterface
public interface ConnectionHandler {

    /**
     * Called for each request, inside {@link UcpWorker#progress()} of the listener's worker, on the thread that
     * called it. It must only take note of the request: not create an endpoint, not progress, not block. Every
     * request must then be accepted or rejected, or the client waits for ever. If this throws, that is logged and the
     * request rejected.
     */
    void onConnectionRequest(UcpConnectionRequest request);

    /**
     * Whether clients are turned away whose endpoint does not handle its peer's errors
     * ({@code UCP_ERR_HANDLING_MODE_NONE}). UCX 1.22 can crash when such endpoints share a worker with others that do,
     * so whoever accepts strangers should say yes.
     */
    default boolean isErrorHandlingRequired() {
        return false;
    }

    /**
     * Called in the same way when somebody is rejected because what it sent is no connect message of UCX's, or one that
     * UCX could not stand.
     *
     * @param problem what it was, a phrase
     */
    default void onUnintelligibleRequest(String problem) {
    }

    /**
     * A client has sent another message to connect before it was accepted. Its connection has been reset; whoever accepts
     * its request finds that. Unlike the others this is called on UCX's asynchronous thread, with a lock of the worker's
     * held: it must return at once, and not use UCX.
     */
    default void onRepeatedMessage() {
    }
}
