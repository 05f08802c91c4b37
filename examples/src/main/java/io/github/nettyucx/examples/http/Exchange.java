// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.FullHttpRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A request, and what becomes of it.
 *
 * @param content is given the bytes of the answer as they come, on the event loop; may throw
 * @param reply completes when all of the answer has come, or none will
 */
record Exchange(FullHttpRequest request, Consumer<ByteBuf> content, CompletableFuture<Reply> reply) {
    Exchange(FullHttpRequest request, Consumer<ByteBuf> content) {
        this(request, content, new CompletableFuture<>());
    }
}
