// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.github.nettyucx.channel.UcxWaitStrategy;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** A Vert.x instance for one test. */
final class VertxOverUcx implements AfterEachCallback {

    private static final long SECONDS = 60;

    final Vertx vertx = vertx(new VertxOptions().setEventLoopPoolSize(2));
    /** Kept here, because Vert.x closes a client that nobody refers to any more, with its connections. */
    final NetClient client = vertx.createNetClient();

    static Vertx vertx(VertxOptions options) {
        return Vertx.builder().with(options).withTransport(new UcxTransport(UcxWaitStrategy.PARK)).build();
    }

    static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
    }

    static Buffer bytes(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return Buffer.buffer(bytes);
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        await(client.close());
        await(vertx.close());
    }
}
