// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** Learns that an endpoint has failed, or that its peer has closed it. */
@FunctionalInterface
public interface EndpointErrorHandler {

    /**
     * Called once at most, in no order with the data that had arrived before.
     *
     * <p>Runs inside {@link UcpWorker#progress()}, and sometimes inside other calls on the worker or its endpoints,
     * on the thread that made the call. It must only take note: not call UCX, least of all progress, and not block.
     * What it throws is logged and dropped. Afterwards the endpoint is good for nothing but
     * {@link UcpEndpoint#closeNbx}.
     *
     * @param status why, such as {@link UcsStatus#ERR_CONNECTION_RESET} or {@link UcsStatus#ERR_ENDPOINT_TIMEOUT}
     *               (the peer is gone), {@link UcsStatus#ERR_REJECTED}, or {@link UcsStatus#ERR_NOT_CONNECTED}
     *               (nobody listens there; as some transports have it, this is a reset as well)
     */
    void onError(UcpEndpoint endpoint, int status);
}
