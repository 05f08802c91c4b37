// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AnnouncementTest {

    /** Holds a port, so that nobody else announces it. */
    private KernelSocket holder;
    private int port;

    @BeforeEach
    void holdPort() throws IOException {
        holder = SocketPair.listener(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
        port = holder.localAddress().getPort();
    }

    @AfterEach
    void releasePort() {
        holder.close();
    }

    private InetSocketAddress at(String host) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 7f000001",
        "10.0.0.255, 0a0000ff",
        "::1, 00000000000000000000000000000001",
        "fe80::1, fe800000000000000000000000000001",
        "0.0.0.0, 00000000",
        "::, 00000000000000000000000000000000"
    })
    void itIsTheNameOfASocketUntilItIsClosed(String host, String digits) throws IOException {
        String name = "@netty-ucx/" + digits + "/" + port;
        assertFalse(Announcement.isThere(at(host)));
        try (Announcement announcement = Announcement.open(at(host))) {
            assertNotNull(announcement);
            assertTrue(names().lines().anyMatch(line -> line.endsWith(" " + name)), this::names);
            assertTrue(Announcement.isThere(at(host)));
            announcement.close();
            assertFalse(Announcement.isThere(at(host)));
            assertFalse(names().contains(name));
        }
    }

    private String names() {
        try {
            return Files.readString(Path.of("/proc/net/unix"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void itIsOfOneAddressAndOnePort() throws IOException {
        try (Announcement announcement = Announcement.open(at("127.0.0.1"))) {
            assertNotNull(announcement);
            assertFalse(Announcement.isThere(at("127.0.0.2")));
            assertFalse(Announcement.isThere(at("::1")));
            assertFalse(Announcement.isThere(new InetSocketAddress("127.0.0.1", port == 1 ? 2 : port - 1)));
            assertTrue(Announcement.isThere(at("::ffff:127.0.0.1")));
        }
    }

    @Test
    void aServerOnAllAddressesIsAtEachOfThem() throws IOException {
        try (Announcement announcement = Announcement.open(at("::"))) {
            assertNotNull(announcement);
            for (String host : new String[] {"127.0.0.1", "192.0.2.1", "::1", "fe80::1", "0.0.0.0", "::"}) {
                assertTrue(Announcement.isThere(at(host)), host);
            }
        }
        assertFalse(Announcement.isThere(at("127.0.0.1")));
    }

    /** Another may have the same port over IPv6. */
    @Test
    void aServerOnAllAddressesOfIpv4IsAtThose() throws IOException {
        try (Announcement announcement = Announcement.open(at("0.0.0.0"))) {
            assertNotNull(announcement);
            for (String host : new String[] {"127.0.0.1", "192.0.2.1", "0.0.0.0", "::"}) {
                assertTrue(Announcement.isThere(at(host)), host);
            }
            assertFalse(Announcement.isThere(at("::1")));
            assertFalse(Announcement.isThere(at("fe80::1")));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void aConnectionToAWildcardGetsToTheLoopback(String loopback) throws IOException {
        try (Announcement announcement = Announcement.open(at(loopback))) {
            assertNotNull(announcement);
            assertTrue(Announcement.isThere(at("0.0.0.0")));
            assertTrue(Announcement.isThere(at("::")));
        }
    }

    @Test
    void aTakenNameIsNoError() throws IOException {
        try (Announcement first = Announcement.open(at("127.0.0.1"))) {
            assertNotNull(first);
            assertNull(Announcement.open(at("127.0.0.1")));
            assertTrue(Announcement.isThere(at("127.0.0.1")));
        }
        try (Announcement again = Announcement.open(at("127.0.0.1"))) {
            assertNotNull(again);
        }
    }

    @Test
    void anUnresolvedServerIsNotThere() throws IOException {
        assertFalse(Announcement.isThere(InetSocketAddress.createUnresolved("nobody.invalid", port)));
    }

    /** That is not to be taken for one that has announced nothing. */
    @Test
    void whoHasNoDescriptorToLookWithIsTold() throws Exception {
        try (Announcement announcement = Announcement.open(at("127.0.0.1"))) {
            assertNotNull(announcement);
            String message = Seccomp.refusing(Errno.EMFILE,
                    () -> assertThrows(IOException.class, () -> Announcement.isThere(at("127.0.0.1"))).getMessage(),
                    Seccomp.SOCKET);
            assertTrue(message.contains("too many open files"), message);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thatOfAProcessGoesWithIt(boolean killed) throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-Xmx64m", "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"), AnnouncementMain.class.getName(),
                "127.0.0.1", Integer.toString(port)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader()) {
            assertEquals("there", output.readLine());
            assertTrue(Announcement.isThere(at("127.0.0.1")));
            if (killed) {
                process.destroyForcibly();
            } else {
                process.getOutputStream().close();
            }
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            assertFalse(Announcement.isThere(at("127.0.0.1")));
        } finally {
            process.destroyForcibly();
        }
    }
}
