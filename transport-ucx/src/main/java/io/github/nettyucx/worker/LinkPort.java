// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.List;

/** One UCX endpoint as those see it who make links and share them. Only the event-loop thread may call. */
public interface LinkPort extends EndpointPort {

    /** Whether messages can be sent. */
    boolean isOpen();

    /** Has {@code user} told when the endpoint fails, also if that was before. */
    void add(EndpointListener user);

    /** The endpoint itself stays: others may use it. */
    void remove(EndpointListener user);

    /**
     * Completes when the peer's endpoint has answered this one, and what was sent before has left. UCX makes an endpoint,
     * and takes what is sent on it, before it knows whether anything reaches the peer.
     *
     * @return a status pointer, as of the other operations
     */
    long flush();

    /**
     * All its transports, each with its device, such as {@code sysv/memory} and {@code tcp/eth0}; the one that carries
     * most of the data first. There are none once it has failed.
     */
    List<String> transports();

    /**
     * Tears the link down at once, for all its users; what is in flight completes as cancelled later. To be called when
     * nobody uses it: everything that the peer has to receive must have been acknowledged, for UCX drops the rest.
     */
    void close();
}
