// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example as a user runs it; what it checks about HTTP is in {@code FileChecks} and {@code WebSocketChecks}. */
@Timeout(240)
class HttpTest {
    private static long rows(String out, String start) {
        return Pattern.compile("^" + start, Pattern.MULTILINE).matcher(out).results().count();
    }

    @Test
    void checksBothProtocolsWithTlsAndWithout() throws Exception {
        var out = ExampleProcess.run(Http.class, "--transport", "ucx", "--size", "3m", "--rounds", "1")
               .assertClean().out();
        for (var protocol : HttpProtocol.values()) {
            for (var name : HttpChecks.names(protocol)) {
                assertTrue(out.contains("\n  " + name + "\n"), out);
            }
        }
        assertEquals(1, rows(out, "ucx +(sysv|posix) +HTTP/1.1 +plaintext +FileRegion( +[\\d,]+){4}$"), out);
        assertEquals(1, rows(out, "ucx +(sysv|posix) +HTTP/1.1 +TLS +ChunkedFile( +[\\d,]+){4}$"), out);
        assertEquals(2, rows(out, "ucx +(sysv|posix) +HTTP/2 +(TLS|plaintext) +ChunkedFile( +[\\d,]+){4}$"), out);
    }

    @Test
    void runsBetweenTwoProcessesOverTcpLanes() throws Exception {
        try (var server = ExampleProcess.start(Http.class, "--server", "[::1]:0", "--lane", "tcp", "--size", "100k")) {
            var out = ExampleProcess.run(Http.class, "--connect", server.address(), "--lane", "tcp", "--size", "100k",
                    "--rounds", "1").assertClean().out();
            assertEquals(1, rows(out, "ucx +tcp +HTTP/1.1 +plaintext"), out);
            assertEquals(1, rows(out, "ucx +tcp +HTTP/2 +plaintext"), out);
            server.process().toHandle().destroy();
            assertEquals("", server.outcome().err());
        }
    }

    @Test
    void getsFilesOfTheUsersByTheirUrls(@TempDir Path directory) throws Exception {
        var bytes = new byte[100_000];
        new Random(7).nextBytes(bytes);
        Files.write(directory.resolve("data"), bytes);
        try (var server = ExampleProcess.start(Http.class, "--server", "127.0.0.1:0", "--files",
                directory.toString())) {
            var url = "http://" + server.address() + "/data";
            var out = ExampleProcess.run(Http.class, url, url + "/none").assertClean().out();
            assertTrue(out.contains(sha256(bytes)), out);
            assertEquals(1, rows(out, Pattern.quote(url) + " +200 +100,000 "), out);
            assertEquals(1, rows(out, Pattern.quote(url) + "/none +404 +0 "), out);
            out = ExampleProcess.run(Http.class, "--http", "2", "--range", "-100000", url).assertClean().out();
            assertEquals(1, rows(out, Pattern.quote(url) + " +206 +100,000 .*" + sha256(bytes)), out);
        }
    }

    @Test
    void tellsOfTheUrlsBeforeTheOneThatFails(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("data"), "some text");
        try (var server = ExampleProcess.start(Http.class, "--server", "127.0.0.1:0", "--files", directory.toString(),
                "--transport", "nio")) {
            var url = "http://" + server.address() + "/data";
            var outcome = ExampleProcess.run(Http.class, "--transport", "nio", url, "http://127.0.0.1:1/none", url)
                    .assertFailed(1);
            assertEquals(1, rows(outcome.out(), Pattern.quote(url) + " +200 +9 "), outcome.out());
            outcome.assertSaid("http: cannot connect to 127.0.0.1:1: ");
        }
    }

    @Test
    void saysSoWhenNobodyListens() throws Exception {
        ExampleProcess.run(Http.class, "--connect", "127.0.0.1:1").assertFailed(1)
                .assertSaid("http: cannot connect to 127.0.0.1:1: Connection refused");
    }

    private static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
