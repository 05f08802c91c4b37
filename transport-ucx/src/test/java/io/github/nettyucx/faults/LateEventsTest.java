// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * UCX's asynchronous thread is told of the events of several connections at a time. If one is closed before it comes to
 * that one's, it may take the event for that of a new connection with the same number, and crash the process.
 */
class LateEventsTest {

    private static final String SOURCE = "late-events.c";
    private static final int SECONDS = 120;

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 150)
    void whoIsTurnedAwayByUcxLeavesNoEventsToOthers() throws Exception {
        Path directory = Files.createTempDirectory("late-events");
        Path library = directory.resolve("late-events.so");
        long seed = Faults.newSeed();
        try (Child process = Child.start(List.of("env", "LD_PRELOAD=" + compile(directory, library)), List.of(),
                LateEventsMain.class, seed)) {
            String strangers = process.await("done", SECONDS);
            String[] events = process.await("events", SECONDS).split(" of ");
            Faults.report("late events: lane %s: seed %d: %s strangers, %s of %s events were late", Lane.current(), seed,
                    strangers, events[0], events[1]);
            assertTrue(Integer.parseInt(events[1]) > 0, "UCX was told of no event: the test tests nothing");
            assertEquals("0", events[0], "events for connections that UCX had closed since");
        } catch (AssertionError e) {
            throw Faults.failure("late events", seed, e);
        } finally {
            Files.delete(library);
            Files.delete(directory.resolve(SOURCE));
            Files.delete(directory);
        }
    }

    private static Path compile(Path directory, Path library) throws Exception {
        Path source = directory.resolve(SOURCE);
        try (InputStream text = LateEventsTest.class.getResourceAsStream(SOURCE)) {
            Files.copy(text, source);
        }
        Process compiler = new ProcessBuilder("cc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o",
                library.toString(), source.toString(), "-ldl").redirectErrorStream(true).start();
        String output = new String(compiler.getInputStream().readAllBytes());
        assertEquals(0, compiler.waitFor(), () -> "the C compiler, which this test needs: " + output);
        return library;
    }
}
