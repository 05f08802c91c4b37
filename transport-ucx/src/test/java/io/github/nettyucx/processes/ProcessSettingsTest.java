// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.Peers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What system properties say of a whole process. */
class ProcessSettingsTest {

    private static final Set<String> SHARED_MEMORY = Set.of("sysv", "posix");
    private static final String ALL_LANES = "lanes=shm,rdma,socket";
    private static final String SECRET = "sixteen-or-more-bytes";

    private Side here;
    @TempDir
    private Path directory;

    @BeforeEach
    void start() {
        here = new Side();
    }

    @AfterEach
    void end() {
        here.close();
    }

    private static void assertFails(String result, String reason) {
        assertTrue(result.startsWith("failed: ") && result.contains(reason), result);
    }

    // ------------------------------------------------------------------------------------------- the secret

    @Test
    void theSecretOfAFileIsThatOfAllConnections() throws Exception {
        Path file = directory.resolve("secret");
        Files.writeString(file, SECRET + '\n');
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.secretFile=" + file)) {
            InetSocketAddress server = there.listen();
            String lane = here.connect(server, ALL_LANES, "secret=" + SECRET);
            assertTrue(SHARED_MEMORY.contains(lane), lane);
            assertFails(here.connect(server, ALL_LANES), "the client has no shared secret");
            assertFails(here.connect(server, ALL_LANES, "secret=" + SECRET + '\n'), "another shared secret");
            lane = there.connect(here.listen(Peers.loopback(0), ALL_LANES, "secret=" + SECRET));
            assertTrue(SHARED_MEMORY.contains(lane), lane);
            assertFails(there.connect(here.listen(Peers.loopback(0), ALL_LANES)), "the server has no shared secret");
            assertEquals("", answer(server), "ordinary clients are not served");
            assertEquals("hello", answer(there.listen("plain=SPEAKING")), "but where they are asked in");
        }
    }

    /** What an echo server says to an ordinary client that says hello. */
    private static String answer(InetSocketAddress server) throws Exception {
        try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write("hello".getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void aSecretThatCannotBeReadIsAnErrorAndNotNone() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.secretFile=" + directory.resolve("none"))) {
            InetSocketAddress server = here.listen(Peers.loopback(0), ALL_LANES);
            for (int i = 0; i < 2; i++) {
                assertFails(there.connect(server), "there is no file " + directory.resolve("none"));
            }
            assertFails(there.ask("listen loopback 0"), "there is no file " + directory.resolve("none"));
        }
    }

    // ------------------------------------------------------------------------------------------- everything off

    @Test
    void nettysSwitchForNativeTransportsIsObeyed() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.netty.transport.noNative=true")) {
            assertFails(there.ask("listen loopback 0"), "-Dio.netty.transport.noNative=true");
            assertEquals("none: java.lang.UnsupportedOperationException: native transports are switched off by"
                    + " -Dio.netty.transport.noNative=true", there.ask("ucx"));
        }
    }

    @Test
    void modesAndLanesOfAllConnections() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.lanes=socket",
                "-Dio.github.nettyucx.connectMode=announced", "-Dio.github.nettyucx.plainPeers=refuse")) {
            InetSocketAddress server = there.listen();
            assertEquals("socket", here.connect(server, ALL_LANES));
            assertEquals("", answer(server));
            assertEquals("socket", there.connect(here.listen(Peers.loopback(0), ALL_LANES)));
        }
    }

    /** A client that sends what a handshake begins with, and is served when it has said no more for that long. */
    @Test
    void theGraceOfAllConnections() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.plainGraceMillis=1500")) {
            InetSocketAddress server = there.listen();
            try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
                socket.setSoTimeout(20_000);
                long start = System.nanoTime();
                socket.getOutputStream().write('N');
                assertEquals('N', socket.getInputStream().read());
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                assertTrue(millis >= 1500, () -> "served after " + millis + " ms");
            }
        }
    }

    @Test
    void aPropertyThatMakesNoSenseIsTold() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.lanes=fast")) {
            assertFails(there.ask("connect loopback 1"), "io.github.nettyucx.lanes: lanes \"fast\": there is no lane");
        }
    }

    /** When a loop is made, and each time: not by the end of a loop when the setting is first needed. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "zeroCopyMin=65537 | zeroCopyMin: 65537 (expected: 1 to 65536 bytes",
        "sendBufferSize=1 | sendBufferSize: 1 (expected: 4096 to 16777216 bytes)",
        "receivePoolSize=7 | receivePoolSize: 7 (expected: 0, or 8192 to 1073741824 bytes)",
        "registrationMin=-1 | registrationMin: -1 (expected: 0 to 2147483647 bytes)",
        "peerTimeoutSeconds=-1 | peerTimeoutSeconds: -1 (expected: 0 to 32767 seconds",
        "plainGraceMillis=0 | plainGraceMillis: 0 (expected: 1 to 2147483647 milliseconds)",
        "answerMillis=0 | answerMillis: 0 (expected: 1 to 2147483647 milliseconds)",
        "exitTimeoutMillis=-1 | exitTimeoutMillis: -1 (expected: 0 to 2147483647 milliseconds)",
        "peerTimeoutSeconds=1m | peerTimeoutSeconds: '1m' (expected: a whole number)",
        "registration=alway | registration: 'alway' (expected: one of [auto, always, never])",
    })
    void aSettingOfLoopsThatIsWrongIsTold(String setting, String reason) throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx." + setting)) {
            for (int i = 0; i < 2; i++) {
                assertFails(there.ask("listen loopback 0"), "IllegalArgumentException: io.github.nettyucx." + reason);
            }
        }
    }
}
