// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.nettyucx.examples.ExampleProcess;
import io.netty.channel.epoll.Epoll;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The example as a user runs it, with processes and all. */
@Timeout(240)
class PingPongTest {

    private static String[] endless(String transport) {
        return new String[] {"--transport", transport, "--iterations", "1000000000"};
    }

    @Test
    void comparesUcxOverSharedMemoryAndTcpWithNio() throws Exception {
        var rows = table(ExampleProcess.run(PingPong.class, "--lane", "shm,tcp", "--iterations", "500"));
        assertEquals(3, rows.size());
        assertRow(rows.get(0), "ucx", "sysv|posix", "16 B", "1");
        assertRow(rows.get(1), "ucx", "tcp", "16 B", "1");
        assertRow(rows.get(2), "nio", "tcp", "16 B", "1");
        for (var row : rows.subList(0, 2)) {
            assertTrue(row.matches(".*× (faster|slower)"), row);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"spin", "adaptive", "park"})
    void waitsInEveryWay(String wait, @TempDir Path directory) throws Exception {
        var json = directory.resolve("result.json");
        var rows = table(ExampleProcess.run(PingPong.class, "--transport", "ucx", "--wait", wait, "--iterations", "300",
                "--json", json.toString()));
        assertEquals(1, rows.size());
        var text = Files.readString(json);
        assertTrue(text.contains("\"wait\": \"" + wait + "\""), text);
        assertTrue(text.contains("\"p50TimesFasterThanNio\": null"), text);
    }

    @Test
    void comparesNioAndEpoll() throws Exception {
        assumeTrue(Epoll.isAvailable(), "Netty's epoll transport is not available");
        var rows = table(ExampleProcess.run(PingPong.class, "--transport", "nio,epoll", "--iterations", "500"));
        assertEquals(2, rows.size());
        assertRow(rows.get(0), "nio", "tcp", "16 B", "1");
        assertRow(rows.get(1), "epoll", "tcp", "16 B", "1");
        assertTrue(rows.get(1).matches(".*× (faster|slower)"), rows.get(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void pingsOverManyConnectionsWithLargeMessages(String transport, @TempDir Path directory) throws Exception {
        var json = directory.resolve("result.json");
        var rows = table(ExampleProcess.run(PingPong.class, "--transport", transport, "--size", "256k",
                "--connections", "5", "--threads", "2", "--iterations", "7", "--warmup", "0",
                "--json", json.toString()));
        assertRow(rows.getFirst(), transport, lane(transport), "256 KiB", "5");
        var text = Files.readString(json);
        for (var expected : List.of("\"transport\": \"" + transport + "\"", "\"size\": 262144", "\"connections\": 5",
                "\"threads\": 2", "\"iterations\": 7", "\"warmup\": 0")) {
            assertTrue(text.contains(expected), text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void runsBetweenAServerAndAClientStartedByHand(String transport) throws Exception {
        try (var server = ExampleProcess.start(PingPong.class, "--transport", transport, "--server", "[::1]:0")) {
            var address = server.address();
            assertTrue(address.startsWith("[::1]:"), address);
            for (var i = 0; i < 2; i++) {
                var rows = table(ExampleProcess.run(PingPong.class, "--transport", transport, "--connect",
                        address, "--iterations", "50", "--size", "3"));
                assertRow(rows.getFirst(), transport, lane(transport), "3 B", "1");
            }
            server.process().toHandle().destroy();
            assertEquals("", server.outcome().err());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void saysSoWhenNobodyListens(String transport) throws Exception {
        ExampleProcess.run(PingPong.class, "--transport", transport, "--connect", "127.0.0.1:1").assertFailed(1)
                .assertSaid("ping-pong: cannot connect to 127.0.0.1:1: Connection refused");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void saysSoWhenTheAddressIsTaken(String transport) throws Exception {
        try (var other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            var address = "127.0.0.1:" + other.getLocalPort();
            var outcome = ExampleProcess.run(PingPong.class, "--transport", transport, "--server", address)
                    .assertFailed(1);
            outcome.assertSaid("ping-pong: cannot listen on " + address + ": ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void saysSoWhenTheServerProcessDies(String transport) throws Exception {
        try (var comparison = ExampleProcess.start(PingPong.class, endless(transport))) {
            var server = childWith(comparison.process(), "--server");
            childWith(comparison.process(), "--connect");
            server.destroyForcibly();
            var outcome = comparison.outcome().assertFailed(1);
            var start = "ping-pong: the " + transport + " server ended too early with exit code 137";
            outcome.assertSaid(start);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void saysSoWhenTheClientProcessDies(String transport) throws Exception {
        try (var comparison = ExampleProcess.start(PingPong.class, endless(transport))) {
            childWith(comparison.process(), "--connect").destroyForcibly();
            var outcome = comparison.outcome().assertFailed(1);
            var start = "ping-pong: the " + transport + " client ended too early with exit code 137";
            outcome.assertSaid(start);
        }
    }

    @Test
    void saysSoWhenThereIsNotEnoughMemory() throws Exception {
        // The processes get 512 MiB, for the heap and as much again for direct buffers.
        var outcome = ExampleProcess.run(PingPong.class, "--transport", "nio", "--size", "1g", "--iterations", "1")
                .assertFailed(1);
        assertTrue(outcome.err().contains("emory"), outcome.err());
        assertTrue(outcome.err().contains("use fewer connections or smaller messages"), outcome.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void takesItsChildrenAlongWhenItIsStopped(String transport) throws Exception {
        assertNoOrphans(transport, false);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "nio"})
    void takesItsChildrenAlongWhenItIsKilled(String transport) throws Exception {
        assertNoOrphans(transport, true);
    }

    private static void assertNoOrphans(String transport, boolean forcibly) throws Exception {
        try (var comparison = ExampleProcess.start(PingPong.class, endless(transport))) {
            var children = List.of(childWith(comparison.process(), "--server"),
                    childWith(comparison.process(), "--connect"));
            if (forcibly) {
                comparison.process().toHandle().destroyForcibly();
            } else {
                comparison.process().toHandle().destroy();
            }
            for (var child : children) {
                child.onExit().get(30, TimeUnit.SECONDS);
                assertFalse(child.isAlive());
            }
        }
    }

    /** Waits for a child that has this among its arguments. */
    private static ProcessHandle childWith(Process parent, String argument) throws InterruptedException {
        while (true) {
            var child = parent.children()
                    .filter(candidate -> List.of(candidate.info().arguments().orElse(new String[0])).contains(argument))
                    .findFirst();
            if (child.isPresent()) {
                return child.get();
            }
            assertTrue(parent.isAlive());
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** What carries the bytes between two processes of this host when nothing is said about it; a pattern. */
    private static String lane(String transport) {
        return transport.equals("ucx") ? "sysv|posix" : "tcp";
    }

    /** The lines below the head of the table. */
    private static List<String> table(ExampleProcess.Outcome outcome) {
        var lines = outcome.assertClean().out().lines().toList();
        assertTrue(lines.getFirst().startsWith("transport  lane"), outcome.out());
        assertTrue(lines.get(1).startsWith("─────────  ──"), outcome.out());
        return lines.subList(2, lines.size());
    }

    /**
     * @param start patterns for the first cells
     */
    private static void assertRow(String row, String... start) {
        var cells = row.split("  +");
        for (var i = 0; i < start.length; i++) {
            assertTrue(cells[i].matches(start[i]), row);
        }
        for (var i = start.length; i < start.length + 5; i++) {
            assertTrue(Double.parseDouble(cells[i].replace(",", "")) > 0, row);
        }
    }
}
