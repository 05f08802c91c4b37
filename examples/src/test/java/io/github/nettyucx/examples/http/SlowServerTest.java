// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client waits as long as more comes, and no longer. */
@Timeout(60)
class SlowServerTest {
    private static final int SIZE = 40;

    private interface Answer {
        void to(Socket client) throws IOException, InterruptedException;
    }

    /** Asks a server that sends the head of its answer at once. */
    private static Reply ask(long patienceSeconds, Answer rest) throws Exception {
        try (var listener = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Thread.ofPlatform().daemon().start(() -> {
                try (var client = listener.accept()) {
                    // An answer before its request would be an error.
                    client.getInputStream().read();
                    client.getOutputStream().write(("HTTP/1.1 200 OK\r\nContent-Length: " + SIZE + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
                    rest.to(client);
                } catch (IOException | InterruptedException e) {
                    // The client has gone.
                }
            });
            var target = new HttpTarget(TransportKind.NIO, new HostAndPort("127.0.0.1", listener.getLocalPort()), null,
                    HttpProtocol.HTTP_1_1);
            try (var connections = new ClientConnections(target); var connection = connections.open()) {
                return connection.request(HttpMethod.GET, "/", EmptyHttpHeaders.INSTANCE, _ -> { }, patienceSeconds);
            }
        }
    }

    @Test
    void waitsForAnAnswerThatTakesLongerThanNothingMayCome() throws Exception {
        var reply = ask(2, client -> {
            for (var i = 0; i < SIZE; i++) {
                // What is tested: an answer that comes slowly. Nothing waits for something in this way.
                Thread.sleep(75);
                client.getOutputStream().write('x');
            }
        });
        assertEquals(SIZE, reply.length());
    }

    @Test
    void givesUpWhenNothingMoreComes() {
        var failure = assertThrows(ExampleFailure.class, () -> ask(1, client -> {
            client.getOutputStream().write('x');
            client.getInputStream().transferTo(OutputStream.nullOutputStream());
        }));
        assertEquals("GET /: nothing came for 1 s", failure.getMessage());
    }
}
