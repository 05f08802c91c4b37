// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** How long a leader waits for a follower's answer. */
record Patience(Duration duration) {

    /** @throws IOException if none comes, or the follower has refused */
    <T> T await(Future<T> future) throws InterruptedException, IOException, ExecutionException {
        if (!future.await(duration.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new IOException("it has not answered within " + duration.toMillis() + " ms");
        }
        if (future.cause() instanceof IOException e) {
            throw e;
        }
        if (!future.isSuccess()) {
            throw new ExecutionException(future.cause());
        }
        return future.getNow();
    }
}
