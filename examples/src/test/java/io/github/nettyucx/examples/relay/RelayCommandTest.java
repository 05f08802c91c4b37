// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.nettyucx.examples.ExampleProcess;
import io.github.nettyucx.examples.echo.Echo;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example as a user runs it, between processes. */
@Timeout(240)
class RelayCommandTest {
    /** What any TCP program would do to a UCX server. */
    @Test
    void putsAPlainSocketInFrontOfAUcxServer() throws Exception {
        try (var server = ExampleProcess.start(Echo.class, "--server", "127.0.0.1:0");
             var relay = ExampleProcess.start(Relay.class, "--listen", "tcp:127.0.0.1:0", "--to",
                     "ucx:" + server.address())) {
            var address = relay.address();
            var bytes = new byte[3_000_001];
            new Random(3).nextBytes(bytes);
            try (var socket = new Socket("127.0.0.1", Integer.parseInt(address.substring(address.indexOf(':') + 1)))) {
                Thread.ofPlatform().daemon().start(() -> {
                    try {
                        socket.getOutputStream().write(bytes);
                        socket.shutdownOutput();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                assertArrayEquals(bytes, socket.getInputStream().readAllBytes());
            }
            relay.process().toHandle().destroy();
            assertEquals("", relay.outcome().err());
        }
    }

    @Test
    void putsATcpServerBehindAUcxClient() throws Exception {
        try (var server = ExampleProcess.start(Echo.class, "--transport", "nio", "--server", "127.0.0.1:0");
             var relay = ExampleProcess.start(Relay.class, "--listen", "ucx:127.0.0.1:0", "--to",
                     "tcp:" + server.address())) {
            var out = ExampleProcess.run("hello\n".getBytes(StandardCharsets.UTF_8), Echo.class, "--connect",
                    relay.address()).assertClean().out();
            assertEquals("hello\n", out);
        }
    }
}
