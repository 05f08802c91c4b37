// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a server and a client process are joined: with two that measure nothing. */
@Timeout(60)
class PairTest {
    private static final Scenario SCENARIO = new Scenario(Work.LATENCY, 16, 1, 1, 1, 1, 0, 1, 0, null, null);
    /** What the server is asked for before the measurement, and behind it. */
    private static final int LOOKS = 3;

    @TempDir
    private Path directory;

    /** Notes in files how often it was asked. One that fails throws what an order to look at {@code /proc} would. */
    private record Server(Path directory, boolean fails, AtomicInteger looks, CountDownLatch end) implements MeasuredServer {
        @Override
        public ProcessState state() {
            if (fails) {
                throw new IllegalStateException("it cannot be read");
            }
            try {
                Files.createFile(directory.resolve("look-" + looks.incrementAndGet()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return ProcessState.now(new long[0]);
        }

        @Override
        public void stop() {
            end.countDown();
        }

        @Override
        public void awaitStop() throws InterruptedException {
            end.await();
        }

        @Override
        public void close() {
            // It has nothing.
        }
    }

    /** Takes as long for its result as it takes the parent to ask the server. */
    private record Client(Path directory, Barrier barrier) implements MeasuredClient {
        @Override
        public ClientResult measure() throws InterruptedException {
            barrier.await();
            barrier.over();
            while (!Files.exists(directory.resolve("look-" + LOOKS))) {
                // Until the file of another process is there: there is nothing to wait on.
                Thread.sleep(5);
            }
            var state = ProcessState.now(new long[0]);
            return new ClientResult(new Sample("lane", "software", 7, 1, Map.of(), null, null), state, state);
        }

        @Override
        public void close() {
            // It has nothing.
        }
    }

    /** Either. */
    static final class Main {
        public static void main(String[] args) {
            var directory = Path.of(args[1]);
            Child.run(() -> {
                if (args[0].equals(Child.SERVER)) {
                    Child.serve(new Server(directory, Boolean.parseBoolean(args[2]), new AtomicInteger(),
                            new CountDownLatch(1)), "address");
                } else {
                    Child.measure(barrier -> new Client(directory, barrier));
                }
            });
        }
    }

    private Sample measure(boolean fails) throws InterruptedException {
        return Pair.measure("nothing", SCENARIO, new Interruption(), (role, _, _) -> ChildProcess.start("the " + role,
                Main.class, List.of(role, directory.toString(), Boolean.toString(fails)), Child::isReport));
    }

    /** What it does while the client writes its result is no part of what was measured. */
    @Test
    void theServerIsAskedBeforeTheClientHasItsResult() throws Exception {
        assertEquals(7, measure(false).operations());
        try (var files = Files.list(directory)) {
            assertEquals(LOOKS, files.count());
        }
    }

    /** All of them have the same heap, whatever the benchmark's own JVM was given. */
    @Test
    void aFullHeapIsNoReasonToRaiseWhatCannotBeRaised() {
        var full = new OutOfMemoryError("Java heap space");
        for (var failure : List.of(full, new ExampleFailure(Explanation.of(full), full))) {
            var text = Child.explanation(failure);
            assertTrue(text.contains("Java heap space") && text.contains("-Xmx does not change that")
                    && !text.contains("raise"), text);
        }
        assertEquals("told", Child.explanation(new ExampleFailure("told")));
    }

    @Test
    void aServerThatCannotLookSaysWhy() {
        var failure = assertThrows(ExampleFailure.class, () -> measure(true));
        assertTrue(failure.getMessage().contains("the server ended too early with exit code 1")
                && failure.getMessage().contains("it cannot be read"), failure.getMessage());
    }
}
