// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EndpointPort;

import java.io.IOException;
import java.util.List;

/** Makes what links consist of: UCX's workers and endpoints, or what takes their place in a test. */
interface LinkFactory {

    /**
     * @param serving whether the peer has connected to this side
     * @throws LinkException if there cannot be one
     */
    WorkerSide worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException;

    /** One worker. */
    interface WorkerSide {

        /** It stays until {@link #unpin()}, with or without endpoints: a peer is told its address. */
        void pin();

        void unpin();

        byte[] address() throws IOException;

        EndpointSide connect(byte[] peerAddress) throws IOException;

        /** No new links on it. */
        void retire();

        boolean isRetired();

        /** Runs {@code report} when every message has been delivered that had arrived by now. */
        void afterArrived(Runnable report);
    }

    /** One endpoint. */
    interface EndpointSide {

        EndpointPort port();

        boolean isOpen();

        /** Has {@code user} told that the endpoint has failed, also if that was before. */
        void add(EndpointListener user);

        void remove(EndpointListener user);

        /** Names of transports with their devices, such as {@code sysv/memory}; none once it has failed. */
        List<String> transports();

        void close();
    }
}
