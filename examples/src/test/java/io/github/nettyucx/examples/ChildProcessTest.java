// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
}
