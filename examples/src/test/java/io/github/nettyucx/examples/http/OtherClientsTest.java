// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleProcess;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.SelfSignedCertificate;
import io.github.nettyucx.examples.TransportKind;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server, asked by clients that are not ours: two sides that agree may make the same mistake. */
@Timeout(240)
class OtherClientsTest {
    private static final int SECONDS = 60;

    /** The JDK's client, by TCP, of a server that takes UCX as well. */
    @Test
    void speaksWithTheJdksClient(@TempDir Path directory) throws Exception {
        var bytes = new byte[3_000_001];
        new Random(5).nextBytes(bytes);
        Files.write(directory.resolve("data"), bytes);
        try (var own = SelfSignedCertificate.create();
             var server = ExampleProcess.start(Http.class, "--server", "127.0.0.1:0", "--files", directory.toString(),
                     "--cert", own.certificate().toString(), "--key", own.key().toString());
             var client = OrdinaryClient.client(own.certificate())) {
            var address = server.address();
            for (var version : HttpClient.Version.values()) {
                if (!version.name().equals("HTTP_3")) {
                    var request = HttpRequest.newBuilder(URI.create("https://" + address + "/data")).version(version);
                    var whole = client.send(request.build(), BodyHandlers.ofByteArray());
                    assertEquals(version, whole.version());
                    assertEquals(200, whole.statusCode());
                    assertArrayEquals(bytes, whole.body());
                    var part = client.send(request.header("Range", "bytes=-5").build(), BodyHandlers.ofByteArray());
                    assertEquals(206, part.statusCode());
                    assertArrayEquals(Arrays.copyOfRange(bytes, bytes.length - 5, bytes.length), part.body());
                }
            }
            echo(client, URI.create("wss://" + address + "/echo"));
        }
    }

    private static void echo(HttpClient client, URI uri) throws Exception {
        var text = new CompletableFuture<String>();
        var closed = new CompletableFuture<Integer>();
        var socket = client.newWebSocketBuilder().buildAsync(uri, new WebSocket.Listener() {
            private final StringBuilder received = new StringBuilder();

            @Override
            public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
                received.append(data);
                if (last) {
                    text.complete(received.toString());
                }
                from.request(1);
                return null;
            }

            @Override
            public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
                closed.complete(status);
                return null;
            }
        }).get(SECONDS, TimeUnit.SECONDS);
        socket.sendText("in two ", false).get(SECONDS, TimeUnit.SECONDS);
        socket.sendText("fragments", true).get(SECONDS, TimeUnit.SECONDS);
        assertEquals("in two fragments", text.get(SECONDS, TimeUnit.SECONDS));
        socket.sendClose(4242, "done").get(SECONDS, TimeUnit.SECONDS);
        assertEquals(4242, closed.get(SECONDS, TimeUnit.SECONDS));
    }

    /** Each answer that has been begun is a file that is open, so no more are begun than a client may make of us. */
    @Test
    void opensFewFilesForAClientThatAsksForManyAtOnce(@TempDir Path directory) throws Exception {
        assertFewFiles(directory, null, SocketFactory.getDefault(), 300, 100_000);
    }

    /** Files of this size fill what the channel holds with fewer of them than may be open. */
    @Test
    void opensFewFilesOverTlsToo(@TempDir Path directory) throws Exception {
        try (var own = SelfSignedCertificate.create()) {
            assertFewFiles(directory, Tls.ofServer(own.certificate(), own.key()),
                    OrdinaryClient.trusting(own.certificate()).getSocketFactory(), 1000, 6000);
        }
    }

    private static void assertFewFiles(Path directory, SslContext tls, SocketFactory sockets, int requests, int size)
            throws Exception {
        var bytes = new byte[size];
        new Random(9).nextBytes(bytes);
        Files.write(directory.resolve("data"), bytes);
        try (var server = HttpServer.start(TransportKind.NIO, new HostAndPort("127.0.0.1", 0), tls,
                     new FileDirectory(directory));
             var socket = sockets.createSocket()) {
            // The server is to fall behind soon.
            socket.setReceiveBufferSize(64 * 1024);
            socket.connect(server.address().resolve());
            socket.getOutputStream().write("GET /data HTTP/1.1\r\nHost: h\r\n\r\n".repeat(requests)
                    .getBytes(StandardCharsets.US_ASCII));
            var in = socket.getInputStream();
            var most = 0L;
            for (var i = 0; i < requests; i++) {
                skipHead(in);
                assertArrayEquals(bytes, in.readNBytes(bytes.length));
                // Looking takes longer than the answer.
                if (i % 4 == 0) {
                    most = Math.max(most, openIn(directory));
                }
            }
            assertTrue(most <= 16, most + " files were open");
            assertTrue(most > 0, "the server was never behind: this has tested nothing");
        }
    }

    private static void skipHead(InputStream in) throws IOException {
        for (var line = 0; line != 1;) {
            line = 0;
            for (int c; (c = in.read()) != '\n';) {
                assertTrue(c >= 0, "the server closed the connection");
                line++;
            }
        }
    }

    private static long openIn(Path directory) throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(it -> {
                try {
                    return Files.readSymbolicLink(it).startsWith(directory.toRealPath());
                } catch (IOException e) {
                    // Closed meanwhile.
                    return false;
                }
            }).count();
        }
    }
}
