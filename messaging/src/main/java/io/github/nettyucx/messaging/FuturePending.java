// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.CompletableFuture;

/** A request whose answer completes a future. */
final class FuturePending<R> extends Pending {

    private final CompletableFuture<R> future;

    FuturePending(Requests requests) {
        future = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                if (requests.take(correlation) != null) {
                    requests.cancelled();
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
        future.complete((R) response);
    }

    @Override
    void fail(MessagingException cause) {
        future.completeExceptionally(cause);
    }
}
