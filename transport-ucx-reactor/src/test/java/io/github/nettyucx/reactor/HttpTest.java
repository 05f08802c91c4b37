// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Reactor Netty's HTTP server and client over UCX: bodies in both directions, TLS, HTTP/2, pooled connections. */
class HttpTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int BODY = 3 * 1024 * 1024 + 17;

    private final UcxLoopResources ucx = UcxLoopResources.create("http", 2, true);
    private final ConnectionProvider pool = ConnectionProvider.create("http", 4);
    /** Of both sides. */
    private final Set<Class<?>> channelClasses = ConcurrentHashMap.newKeySet();

    @AfterEach
    void dispose() {
        pool.disposeLater().block(PATIENCE);
        ucx.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }

    private HttpServer server() {
        return HttpServer.create().runOn(ucx).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0))
                .doOnConnection(connection -> channelClasses.add(connection.channel().getClass()))
                .route(routes -> routes
                        .post("/echo", (request, response) -> response.send(request.receive().retain()))
                        .get("/hello", (request, response) -> response.sendString(Mono.just("hello")))
                        .get("/thread", (request, response) ->
                                response.sendString(Mono.fromCallable(() -> Thread.currentThread().getName()))));
    }

    private HttpClient client(DisposableServer server) {
        return HttpClient.create(pool).runOn(ucx).remoteAddress(server::address)
                .doOnConnected(connection -> channelClasses.add(connection.channel().getClass()));
    }

    private void with(HttpServer configured, Consumer<DisposableServer> test) {
        DisposableServer server = configured.bindNow(PATIENCE);
        try {
            assertInstanceOf(UcxServerSocketChannel.class, server.channel());
            test.accept(server);
        } finally {
            server.disposeNow(PATIENCE);
        }
    }

    private static byte[] body(long seed) {
        byte[] body = new byte[BODY];
        new SplittableRandom(seed).nextBytes(body);
        return body;
    }

    /** Sends the body in pieces of 10000 bytes, and takes it back in whatever pieces it comes. */
    private static byte[] echo(HttpClient client, byte[] body) {
        Flux<byte[]> pieces = Flux.range(0, (body.length + 9999) / 10000)
                .map(i -> Arrays.copyOfRange(body, i * 10000, Math.min(body.length, (i + 1) * 10000)));
        return client.post().uri("/echo").send(ByteBufFlux.fromInbound(pieces))
                .responseSingle((response, content) -> {
                    assertEquals(200, response.status().code());
                    return content.asByteArray();
                }).block(PATIENCE);
    }

    @Test
    void bodiesComeBackAsTheyWereSent() {
        with(server(), server -> {
            for (int i = 0; i < 3; i++) {
                byte[] body = body(i);
                assertArrayEquals(body, echo(client(server), body));
            }
        });
        assertEquals(Set.of(UcxSocketChannel.class), channelClasses);
    }

    @Test
    void requestsBesideEachOtherShareThePooledConnections() {
        Set<String> connections = ConcurrentHashMap.newKeySet();
        with(server(), server -> {
            HttpClient client = client(server)
                    .doOnConnected(connection -> connections.add(connection.channel().id().asLongText()));
            List<String> answers = Flux.range(0, 200)
                    .flatMap(i -> client.get().uri("/hello").responseContent().aggregate().asString(), 8)
                    .collectList().block(PATIENCE);
            assertEquals(200, answers.size());
            assertEquals(Set.of("hello"), Set.copyOf(answers));
        });
        assertTrue(!connections.isEmpty() && connections.size() <= 4, connections::toString);
    }

    @Test
    void tls() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        Http11SslContextSpec serverTls =
                Http11SslContextSpec.forServer(certificate.certificate(), certificate.privateKey());
        Http11SslContextSpec clientTls = Http11SslContextSpec.forClient().configure(
                context -> context.trustManager(InsecureTrustManagerFactory.INSTANCE));
        overTls(certificate, spec -> spec.sslContext(serverTls), spec -> spec.sslContext(clientTls),
                HttpProtocol.HTTP11);
    }

    @Test
    void http2() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        Http2SslContextSpec serverTls =
                Http2SslContextSpec.forServer(certificate.certificate(), certificate.privateKey());
        Http2SslContextSpec clientTls = Http2SslContextSpec.forClient().configure(
                context -> context.trustManager(InsecureTrustManagerFactory.INSTANCE));
        overTls(certificate, spec -> spec.sslContext(serverTls), spec -> spec.sslContext(clientTls),
                HttpProtocol.H2);
    }

    private void overTls(SelfSignedCertificate certificate, Consumer<SslProvider.SslContextSpec> serverTls,
                         Consumer<SslProvider.SslContextSpec> clientTls, HttpProtocol protocol) {
        List<String> versions = new ArrayList<>();
        try {
            with(server().secure(serverTls).protocol(protocol), server -> {
                byte[] body = body(4711);
                HttpClient client = client(server).secure(clientTls).protocol(protocol)
                        .doOnResponse((response, connection) -> versions.add(response.version().text()));
                assertArrayEquals(body, echo(client, body));
            });
        } finally {
            certificate.delete();
        }
        assertEquals(List.of(protocol == HttpProtocol.H2 ? "HTTP/2.0" : "HTTP/1.1"), versions);
    }

    @Test
    void handlersRunInTheLoopsThreads() {
        with(server(), server -> {
            String thread = client(server).get().uri("/thread").responseContent().aggregate().asString()
                    .block(PATIENCE);
            assertTrue(thread.matches("http-ucx-\\d"), thread);
        });
    }
}
