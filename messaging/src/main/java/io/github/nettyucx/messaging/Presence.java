// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Whether there is a connection to a peer, as the application is told. A connection may end on one loop while another one
 * begins on a second: what comes of that is told in the order in which it was, by one thread at a time.
 */
final class Presence {

    private final Peer peer;
    private final Node node;
    private final ConcurrentLinkedQueue<Consumer<NodeListener>> events = new ConcurrentLinkedQueue<>();
    /** Serializes who tells. */
    private final AtomicInteger calls = new AtomicInteger();

    Presence(Peer peer, Node node) {
        this.peer = peer;
        this.node = node;
    }

    /** With the peer's lock. */
    void connected() {
        events.add(listener -> listener.connected(peer));
    }

    /** With the peer's lock. @param cause {@code null} if it was in good order */
    void disconnected(Throwable cause) {
        events.add(listener -> listener.disconnected(peer, cause));
    }

    /** Tells what there is, unless another thread does, or the caller is being told. On an event loop, without the lock. */
    void tell() {
        if (calls.getAndIncrement() != 0) {
            return;
        }
        int seen;
        do {
            seen = calls.get();
            Consumer<NodeListener> event;
            while ((event = events.poll()) != null) {
                node.told(event);
            }
        } while (calls.addAndGet(-seen) != 0);
    }
}
