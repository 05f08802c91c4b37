// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.WorkerPort;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;

/** The workers that a loop makes its links with, and what addresses of peers' are compared with. */
final class LinkWorkers {

    private final LinkFactory factory;
    private final LinkFailures failures;
    /** The first byte of worker addresses, of the lanes of which this side has had one. */
    private final Map<LaneKind, Byte> kinds = new EnumMap<>(LaneKind.class);

    LinkWorkers(LinkFactory factory, LinkFailures failures) {
        this.factory = factory;
        this.failures = failures;
    }

    /** The worker for new links; made if there is none. */
    WorkerPort get(LaneKind lane, boolean serving, ProcessIdentity process) throws LinkException {
        if (!factory.hasWorker(lane, serving, process)) {
            failures.checkWorkers(lane, serving);
        }
        try {
            return factory.worker(lane, serving, process);
        } catch (IOException e) {
            throw failures.worker(lane, serving, e);
        }
    }

    byte[] address(LaneKind lane, WorkerPort worker) throws IOException {
        byte[] address = worker.address();
        if (address.length > 0) {
            kinds.putIfAbsent(lane, address[0]);
        }
        return address;
    }

    /**
     * UCX ends the process if the first byte of an address is not what the same release makes for the same kind of
     * worker; nothing else that was tried with damaged addresses does, but what only a peer on purpose would send. Lets
     * everything pass before this side has had an address of the lane.
     */
    void checkAddress(LaneKind lane, byte[] theirs) throws LinkException {
        Byte own = kinds.get(lane);
        if (own != null && (theirs.length == 0 || theirs[0] != own)) {
            throw new LinkException("the peer's worker address is of another kind than this side's");
        }
    }
}
