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
}
