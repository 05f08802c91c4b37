// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.Link;
import io.github.nettyucx.worker.LinkKind;
import io.github.nettyucx.worker.ProgressEngine;
import io.github.nettyucx.worker.Worker;

import java.io.IOException;
import java.util.List;

/** Links over the workers of one loop. */
final class UcxLinks implements LinkFactory {

    /**
     * Beyond this many a loop makes no more workers: one with shared memory costs about 4 MB. That bounds how many
     * processes of this host it can have links with, and what a peer can do that begins links and does not complete
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

    @Override
    public WorkerSide worker(LaneKind lane, boolean serving, ProcessIdentity peer) throws LinkException {
        // A process that dies while it writes into shared memory jams the worker that it wrote to.
        ProcessIdentity own = lane == LaneKind.SHM ? peer : null;
        LinkKind kind = kindOf(lane);
        if (engine.workerCount() >= MAX_WORKERS && !engine.hasWorker(kind, serving, own)) {
            throw new LinkException("this loop already has " + MAX_WORKERS + " UCX workers");
        }
        try {
            return new UcxWorkerSide(engine.worker(kind, serving, own));
        } catch (IOException e) {
            throw new LinkException("no worker could be made: " + e.getMessage());
        }
    }

    private record UcxWorkerSide(Worker worker) implements WorkerSide {

        @Override
        public void pin() {
            worker.pin();
        }

        @Override
        public void unpin() {
            worker.unpin();
        }

        @Override
        public byte[] address() throws IOException {
            return worker.address();
        }

        @Override
        public EndpointSide connect(byte[] peerAddress) throws IOException {
            return new UcxEndpointSide(worker.connect(peerAddress));
        }

        @Override
        public void retire() {
            worker.retire();
        }

        @Override
        public boolean isRetired() {
            return worker.isRetired();
        }

        @Override
        public void afterArrived(Runnable report) {
            worker.afterArrived(report);
        }
    }

    private record UcxEndpointSide(Link link) implements EndpointSide {

        @Override
        public EndpointPort port() {
            return link;
        }

        @Override
        public boolean isOpen() {
            return link.isOpen();
        }

        @Override
        public void add(EndpointListener user) {
            link.add(user);
        }

        @Override
        public void remove(EndpointListener user) {
            link.remove(user);
        }

        @Override
        public List<String> transports() {
            try {
                return link.transports().stream().map(transport -> transport.device().isEmpty() ? transport.name()
                        : transport.name() + '/' + transport.device()).distinct().toList();
            } catch (IOException e) {
                return List.of();
            }
        }

        @Override
        public void close() {
            link.close();
        }
    }
}
