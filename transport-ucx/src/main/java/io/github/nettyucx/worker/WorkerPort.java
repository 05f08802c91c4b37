// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.io.IOException;

/** One UCX worker as those see it who make links. Only the event-loop thread may call. */
public interface WorkerPort {

    /**
     * Keeps it until {@link #unpin()}, with or without links: a peer has been told its address, or is about to, and the
     * link to him is made when he has answered.
     */
    void pin();

    void unpin();

    /** What a peer needs to make its side of a link to this worker. */
    byte[] address() throws IOException;

    /** Makes this side of a link to the worker that has this {@link #address()}. */
    LinkPort connect(byte[] peerAddress) throws IOException;

    /** No new links on it. */
    void retire();

    boolean isRetired();

    /** Has {@code report} run once, when every message has been delivered that had arrived by now. */
    void afterArrived(Runnable report);
}
