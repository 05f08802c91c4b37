// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.WorkerPort;

/** Gives the workers that links are made with: UCX's, or what takes their place in a test. */
@FunctionalInterface
interface LinkFactory {

    /**
     * @param serving whether the peer has connected to this side
     * @throws LinkException if there cannot be one
     */
    WorkerPort worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException;
}
