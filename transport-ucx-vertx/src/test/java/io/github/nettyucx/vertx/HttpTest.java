// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.netty.handler.ssl.util.SelfSignedCertificate;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.net.PemKeyCertOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.util.ArrayList;
import java.util.List;

import static io.github.nettyucx.vertx.VertxOverUcx.await;
import static io.github.nettyucx.vertx.VertxOverUcx.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Vert.x's HTTP servers and clients over UCX. */
@Timeout(120)
class HttpTest {

    private static final int LENGTH = 3 * 1024 * 1024;

    @RegisterExtension
    final VertxOverUcx ucx = new VertxOverUcx();

    private HttpServer server(HttpServerOptions options) throws Exception {
        return await(ucx.vertx.createHttpServer(options).requestHandler(request -> {
            request.response().setChunked(request.version() == HttpVersion.HTTP_1_1);
            request.pipeTo(request.response());
        }).webSocketHandler(socket -> socket.textMessageHandler(socket::writeTextMessage)).listen(0, "127.0.0.1"));
    }

    private static Future<Buffer> post(HttpClient client, int port, Buffer body, HttpVersion version) {
        return client.request(HttpMethod.POST, port, "127.0.0.1", "/echo")
                .compose(request -> request.send(body))
                .compose(response -> {
                    assertEquals(200, response.statusCode());
                    assertEquals(version, response.version());
                    return response.body();
                });
    }

    @Test
    void http11() throws Exception {
        HttpServer server = server(new HttpServerOptions());
        HttpClient client = ucx.vertx.createHttpClient();
        List<Future<Buffer>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(post(client, server.actualPort(), bytes(LENGTH / 20 * i), HttpVersion.HTTP_1_1));
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(bytes(LENGTH / 20 * i), await(answers.get(i)));
        }
        await(client.close());
        await(server.close());
    }

    @Test
    void http2OverTls() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        HttpServer server = server(new HttpServerOptions().setUseAlpn(true).setSsl(true)
                .setKeyCertOptions(new PemKeyCertOptions().setCertPath(certificate.certificate().getPath())
                        .setKeyPath(certificate.privateKey().getPath())));
        HttpClient client = ucx.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
                .setUseAlpn(true).setSsl(true).setTrustAll(true).setVerifyHost(false));
        assertEquals(bytes(LENGTH), await(post(client, server.actualPort(), bytes(LENGTH), HttpVersion.HTTP_2)));
        await(client.close());
        await(server.close());
        certificate.delete();
    }

    @Test
    void webSocket() throws Exception {
        HttpServer server = server(new HttpServerOptions());
        WebSocketClient client = ucx.vertx.createWebSocketClient();
        WebSocket socket = await(client.connect(server.actualPort(), "127.0.0.1", "/"));
        Promise<String> answer = Promise.promise();
        socket.textMessageHandler(answer::tryComplete);
        socket.writeTextMessage("hello");
        assertEquals("hello", await(answer.future()));
        await(socket.close());
        await(client.close());
        await(server.close());
    }
}
