// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;

/** Two workers in one process, of one thread, connected by worker address and without error handling. */
final class WorkerPair implements AutoCloseable {

    final UcpContext context;
    final UcpWorker worker;
    final UcpWorker peerWorker;
    final UcpEndpoint endpoint;
    final Loop loop;

    WorkerPair(Lanes lanes, UcpFeature... features) throws UcxException {
        context = lanes.context(features);
        worker = context.createWorker(new UcpWorkerParams());
        peerWorker = context.createWorker(new UcpWorkerParams());
        loop = new Loop(worker, peerWorker);
        endpoint = worker.connect(peerWorker.queryAddress(), null);
        loop.complete("flushing", endpoint.flushNbx(UcpRequestParam.allocate(Arena.global())));
    }

    @Override
    public void close() throws UcxException {
        loop.complete("closing", endpoint.closeNbx(false));
        worker.close();
        peerWorker.close();
        context.close();
    }
}
