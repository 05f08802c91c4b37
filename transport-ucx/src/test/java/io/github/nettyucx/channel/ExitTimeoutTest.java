// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The end of a JVM waits for a peer that takes nothing, and for a loop that does nothing, but not for ever. */
class ExitTimeoutTest {

    private static final int MIB = 1024 * 1024;
    /** More than by default. */
    private static final long TIMEOUT_MILLIS = 3000;
    /** What a JVM takes for the rest of its end, on a busy machine. */
    private static final long REST_MILLIS = 10_000;
    private static final List<String> IMPATIENT = Stream.concat(LaneJvm.SMALL.stream(),
            Stream.of("-D" + OrderlyExit.TIMEOUT_PROPERTY + '=' + TIMEOUT_MILLIS)).toList();

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** Over a socket it is the kernel that has it, and goes on. */
    @OnEachLane(linksOnly = true)
    void whatAPeerDoesNotTakeIsCutAndThatIsTold() throws Exception {
        Inbox inbox = new Inbox();
        assertEnds(inbox, ExitMain.End.EXIT_AT_ONCE, 8 * MIB, 0, "1 connections are cut by the end of the JVM");
        inbox.awaitActive().config().setAutoRead(true);
        inbox.awaitInactive();
        assertEquals(1, inbox.exceptions().size(), () -> inbox.exceptions().toString());
        IOException cut = assertInstanceOf(IOException.class, inbox.exceptions().getFirst());
        assertEquals("Connection reset by peer", cut.getMessage());
    }

    @OnEachLane
    void aLoopThatIsBlockedIsAskedInVain() throws Exception {
        assertEnds(new Inbox(), ExitMain.End.SIGNAL_WHILE_BLOCKED, 1, 128 + 15, null);
    }

    /** @param told what the process says meanwhile, if anything */
    private void assertEnds(Inbox inbox, ExitMain.End end, int total, int exitValue, String told) throws Exception {
        UcxServerSocketChannel server = peers.listen(peers.server(() -> inbox).childOption(ChannelOption.AUTO_READ, false));
        Process process = new ProcessBuilder(LaneJvm.command(Lane.current(), IMPATIENT, ExitMain.class,
                Integer.toString(server.localAddress().getPort()), end.toString(), Integer.toString(total),
                Integer.toString(total))).redirectErrorStream(true).start();
        try (BufferedReader output = process.inputReader()) {
            // Of all processes of a host the clock is the same.
            long start = Long.parseLong(await(output, ExitMain.ENDING).split(" ")[1]);
            if (told != null) {
                await(output, told);
            }
            assertTrue(process.waitFor(TIMEOUT_MILLIS + REST_MILLIS, TimeUnit.MILLISECONDS), "the process does not end");
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertEquals(exitValue, process.exitValue());
            assertTrue(millis >= TIMEOUT_MILLIS - 500, () -> "ended after " + millis + " ms");
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static String await(BufferedReader output, String text) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            System.out.println(line);
            if (line.contains(text)) {
                return line;
            }
        }
        throw new AssertionError("the process has ended without saying: " + text);
    }
}
