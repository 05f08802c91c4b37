// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.echo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleProcess;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The example as a user runs it. */
@Timeout(240)
class EchoTest {
    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio", "epoll"})
    void returnsMegabytesByteForByte(String transport) throws Exception {
        var input = random(24 * 1024 * 1024 + 1);
        var outcome = ExampleProcess.run(input, Echo.class, "--transport", transport).assertClean();
        assertArrayEquals(input, outcome.outBytes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio", "epoll"})
    void returnsALineWhileTheInputIsStillOpen(String transport) throws Exception {
        try (var echo = ExampleProcess.start(Echo.class, "--transport", transport)) {
            var in = echo.process().getOutputStream();
            for (var line : new String[] {"hello", "again"}) {
                in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
                in.flush();
                assertEquals(line, echo.line());
            }
            in.close();
            echo.outcome().assertClean();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void returnsMegabytesOverEveryLane(String lane) throws Exception {
        var input = random(8 * 1024 * 1024 - 1);
        var outcome = ExampleProcess.run(input, Echo.class, "--lane", lane).assertClean();
        assertArrayEquals(input, outcome.outBytes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio", "epoll"})
    void endsAtOnceWithoutInput(String transport) throws Exception {
        assertEquals("", ExampleProcess.run(Echo.class, "--transport", transport).assertClean().out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio", "epoll"})
    void runsBetweenTwoProcesses(String transport) throws Exception {
        try (var server = ExampleProcess.start(Echo.class, "--transport", transport, "--server", "[::1]:0")) {
            var address = server.address();
            for (var size : new int[] {1, 3_000_000}) {
                var input = random(size);
                var outcome = ExampleProcess.run(input, Echo.class, "--transport", transport, "--connect", address)
                        .assertClean();
                assertArrayEquals(input, outcome.outBytes());
            }
            server.process().toHandle().destroy();
            assertEquals("", server.outcome().err());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio", "epoll"})
    void saysSoWhenTheServerGoesFirst(String transport) throws Exception {
        try (var server = ExampleProcess.start(Echo.class, "--transport", transport, "--server", "127.0.0.1:0");
             var client = ExampleProcess.start(Echo.class, "--transport", transport, "--connect", server.address())) {
            var in = client.process().getOutputStream();
            in.write("hello\n".getBytes(StandardCharsets.UTF_8));
            in.flush();
            assertEquals("hello", client.line());
            server.process().toHandle().destroyForcibly();
            // All that was sent is back. The input stays open: that must not keep the client from noticing.
            var outcome = client.outcome().assertFailed(1);
            outcome.assertSaid("echo: 6 of ");
        }
    }

    private static byte[] random(int size) {
        var bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
