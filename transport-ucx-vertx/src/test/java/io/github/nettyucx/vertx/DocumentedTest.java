// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** What docs/frameworks.md shows; {@code FrameworksPageTest} compares the page with this file. */
@Timeout(60)
class DocumentedTest {

    @Test
    void serverAndClient() throws Exception {
        int port = 0;
        Vertx vertx = Vertx.builder().withTransport(new UcxTransport()).build();
        HttpClient client = vertx.createHttpClient();

        Future<Buffer> answer = vertx.createHttpServer()
                .requestHandler(request -> request.response().end("hello"))
                .listen(port, "127.0.0.1")
                .compose(server -> client.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", "/"))
                .compose(request -> request.send())
                .compose(HttpClientResponse::body);

        assertEquals("hello", VertxOverUcx.await(answer).toString());
        VertxOverUcx.await(client.close());
        VertxOverUcx.await(vertx.close());
    }
}
