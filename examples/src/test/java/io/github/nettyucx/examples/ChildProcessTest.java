// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ChildProcessTest {
    private static final String READY = "ready";

    /** Runs until it is ended. */
    static final class Waiting {
        public static void main(String[] arguments) throws IOException {
            System.out.println(READY);
            System.in.readAllBytes();
        }
    }

    private static ChildProcess start() throws InterruptedException {
        var child = ChildProcess.start("the child", Waiting.class, List.of(), READY::equals);
        assertEquals(READY, child.nextReport(30_000));
        return child;
    }

    /** Others may delete its files then, or take its port. */
    @Test
    void whenItIsClosedItHasEnded() throws Exception {
        var child = start();
        child.close();
        assertTrue(child.endsWithin(0));
        child.close();
    }

    @Test
    void soItHasWhenWhoClosesItIsInterrupted() throws Exception {
        var child = start();
        Thread.currentThread().interrupt();
        child.close();
        assertTrue(Thread.interrupted());
        assertTrue(child.endsWithin(0));
        assertFalse(Thread.interrupted());
    }

    /** Answers with the order, or fails. */
    static final class Obedient {
        public static void main(String[] arguments) throws InterruptedException {
            var stop = new CountDownLatch(1);
            ParentProcess.onceGone(stop::countDown, order -> {
                switch (order) {
                    case "io" -> throw new UncheckedIOException(new IOException("the disk is gone"));
                    case "state" -> throw new IllegalStateException("the disk is gone");
                    default -> System.out.println(order);
                }
            });
            stop.await();
        }
    }

    private static ChildProcess startObedient() throws InterruptedException {
        var child = ChildProcess.start("the child", Obedient.class, List.of(), READY::equals);
        child.tell(READY);
        assertEquals(READY, child.nextReport(30_000));
        return child;
    }

    /** Its parent waits for an answer. */
    @ParameterizedTest
    @ValueSource(strings = {"io", "state"})
    void whatAnOrderThrowsIsToldAndEndsTheProcess(String order) throws Exception {
        try (var child = startObedient()) {
            child.tell(order);
            var failure = assertThrows(ExampleFailure.class, () -> {
                assertNull(child.nextReport(30_000));
                throw new AssertionError("it has not ended");
            });
            assertTrue(failure.getMessage().contains("ended too early with exit code 1")
                    && failure.getMessage().contains("the disk is gone"), failure.getMessage());
        }
    }

    @Test
    void withoutAFailureItEndsInOrder() throws Exception {
        try (var child = startObedient()) {
            child.stop();
        }
    }
}
