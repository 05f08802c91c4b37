// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.CompletableFuture;

/** A request whose answer completes a future. */
final class FuturePending<R> extends Pending {

    private final Node node;
    private final int type;
    private final CompletableFuture<R> future;

    FuturePending(Node node, int type) {
        this.node = node;
        this.type = type;
        Requests requests = node.requests();
        future = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                if (requests.take(correlation) != null) {
                    node.counters().cancelled.increment();
                }
                return super.cancel(mayInterruptIfRunning);
            }
        };
    }

    CompletableFuture<R> future() {
        return future;
    }

    @Override
    @SuppressWarnings("unchecked")
    void succeed(Object response) {
        if (!future.complete((R) response)) {
            // Somebody has completed it meanwhile: nobody gets the response.
            node.handlers().release((Codec<R>) codec, (R) response, peer, type);
        }
    }

    @Override
    void fail(MessagingException cause) {
        future.completeExceptionally(cause);
    }
}
