// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.WorkerPort;

import java.io.IOException;

/** Gives the workers that links are made with: UCX's, or what takes their place in a test. */
interface LinkFactory {

    /** Whether {@link #worker} need not make one. */
    boolean hasWorker(LaneKind lane, boolean serving, ProcessIdentity peer);

    /**
     * @param serving whether the peer has connected to this side
     * @throws LinkException if there may be none at the moment
     * @throws IOException   if none can be made
     */
    WorkerPort worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException, IOException;
}
