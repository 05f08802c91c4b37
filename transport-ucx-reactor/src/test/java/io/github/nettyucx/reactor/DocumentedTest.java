// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

import java.time.Duration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What docs/frameworks.md shows; {@code FrameworksPageTest} compares the page with this file. */
@Timeout(60)
class DocumentedTest {

    @Test
    void serverAndClient() {
        int port = 0;
        LoopResources ucx = UcxLoopResources.create("orders");

        DisposableServer server = HttpServer.create().runOn(ucx)
                .host("127.0.0.1").port(port)
                .route(routes -> routes.get("/hello", (request, response) -> response.sendString(Mono.just("hello"))))
                .bindNow();

        String answer = HttpClient.create().runOn(ucx)
                .get().uri("http://127.0.0.1:" + server.port() + "/hello")
                .responseContent().aggregate().asString().block();

        server.disposeNow();
        ucx.disposeLater(Duration.ZERO, Duration.ofSeconds(10)).block();

        assertEquals("hello", answer);
        assertTrue(ucx.isDisposed());
    }
}
