// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.LinkKind;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.WorkerPort;

import java.io.IOException;

/** Links over the workers of one loop. */
final class UcxLinks implements LinkFactory {

    /**
     * Beyond this many a loop makes no more workers: one with shared memory costs about 5 MB. That bounds how many
     * processes of this host it can have links with, and what one of them can do that begins links and does not complete
     * them: each of those ends the use of a worker, which stays as long as another link of it does.
     */
    static final int MAX_WORKERS = 64;

    private final ProgressEngine engine;

    UcxLinks(ProgressEngine engine) {
        this.engine = engine;
    }

    static LinkKind kindOf(LaneKind lane) {
        return switch (lane) {
            case SHM -> LinkKind.SHM;
            case RDMA -> LinkKind.RDMA;
            case TCP -> LinkKind.TCP;
            case SOCKET -> throw new IllegalArgumentException("lane socket has no links");
        };
    }

    /** A process that dies while it writes into shared memory jams the worker that it wrote to. */
    private static ProcessIdentity user(LaneKind lane, ProcessIdentity peer) {
        return lane == LaneKind.SHM ? peer : null;
    }

    @Override
    public boolean hasWorker(LaneKind lane, boolean serving, ProcessIdentity peer) {
        return engine.hasWorker(kindOf(lane), serving, user(lane, peer));
    }

    @Override
    public WorkerPort worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException, IOException {
        if (engine.workerCount() >= MAX_WORKERS && !hasWorker(lane, serving, peer)) {
            throw new LinkException("this loop already has " + MAX_WORKERS + " UCX workers");
        }
        return engine.worker(kindOf(lane), serving, user(lane, peer));
    }
}
