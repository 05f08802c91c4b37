// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Reactor Netty, on which Spring's WebFlux and RSocket stand: an HTTP server and client, and TCP. {@code server} or
 * {@code client HTTP-PORT TCP-PORT}. Knows nothing of the agent.
 */
public final class ReactorApplication {

    private static final String HOST = "127.0.0.1";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<Integer> SIZES = List.of(1, 1_000, 100_000, 5_000_000);
    private static final int AT_A_TIME = 16;
    private static final int REQUESTS = 400;
    private static final int LINES = 20_000;

    private ReactorApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("server")) {
            serve();
        } else {
            ask(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        }
        System.exit(0);
    }

    private static void serve() throws Exception {
        DisposableServer http = HttpServer.create().host(HOST).port(0).route(routes -> routes
                .post("/echo", (request, response) -> response.send(request.receive().retain()))
                .get("/lines", (request, response) -> response.sendString(
                        Flux.range(0, LINES).map(line -> "line " + line + '\n')))).bindNow(LIMIT);
        DisposableServer tcp = TcpServer.create().host(HOST).port(0)
                .handle((in, out) -> out.send(in.receive().retain())).bindNow(LIMIT);
        System.out.println("listening " + http.port() + ' ' + tcp.port());
        // Until it is told to end.
        System.in.read();
        http.disposeNow();
        tcp.disposeNow();
    }

    private static void ask(int httpPort, int tcpPort) throws Exception {
        MessageDigest answers = MessageDigest.getInstance("SHA-256");
        ConnectionProvider connections = ConnectionProvider.create("test", AT_A_TIME);
        HttpClient client = HttpClient.create(connections).host(HOST).port(httpPort).responseTimeout(LIMIT);
        Random random = new Random(1);
        for (int size : SIZES) {
            byte[] body = new byte[size];
            random.nextBytes(body);
            answers.update(client.post().uri("/echo").send(ByteBufFlux.fromInbound(Mono.just(body)))
                    .responseSingle((response, bytes) -> bytes.asByteArray()).block(LIMIT));
        }
        answers.update(client.get().uri("/lines").responseContent().aggregate().asByteArray().block(LIMIT));
        Flux.range(0, REQUESTS).flatMapSequential(number -> client.post().uri("/echo")
                        .send(ByteBufFlux.fromString(Mono.just("request " + number)))
                        .responseSingle((response, bytes) -> bytes.asByteArray()), AT_A_TIME)
                .toStream().forEach(answers::update);
        connections.disposeLater().block(LIMIT);

        Connection connection = TcpClient.create().host(HOST).port(tcpPort).connectNow(LIMIT);
        connection.outbound().sendString(Mono.just("over TCP")).then().block(LIMIT);
        String answer = connection.inbound().receive().asString().blockFirst(LIMIT);
        answers.update(answer.getBytes(StandardCharsets.UTF_8));
        connection.disposeNow(LIMIT);
        System.out.println("answers " + HexFormat.of().formatHex(answers.digest()));
    }
}
