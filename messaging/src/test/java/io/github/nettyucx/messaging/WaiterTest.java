// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WaiterTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private final Throwable reason = new IllegalStateException("as the test wants it");

    private static Waiter waiter() {
        Waiter waiter = new Waiter(new WaiterSpin());
        waiter.begin();
        return waiter;
    }

    /** When a node is lost many wait for answers of it. Each may add to what it gets, and all have stacks of their own. */
    @Test
    void threadsThatWaitForTheSameHaveExceptionsOfTheirOwn() {
        for (MessagingException cause : List.of(new MessagingException("text", reason),
                new MessagingException.NodeLost("text", reason), new MessagingException.RingFull("text"),
                new MessagingException.RequestTimeout("text"), new MessagingException.RequestRefused("text"))) {
            Waiter one = waiter();
            Waiter other = waiter();
            one.fail(cause);
            other.fail(cause);
            MessagingException first = assertThrows(MessagingException.class, one::result);
            MessagingException second = assertThrows(MessagingException.class, other::result);
            assertNotSame(first, second);
            first.addSuppressed(second);
            assertEquals(0, second.getSuppressed().length);
            assertSame(cause.getClass(), first.getClass());
            assertEquals("text", first.getMessage());
            assertSame(cause.getCause(), first.getCause());
        }
    }

    @Test
    void oneThatHasEndedKeepsNothing() {
        Waiter waiter = waiter();
        waiter.codec = StringCodec.INSTANCE;
        waiter.succeed("answer");
        assertEquals("answer", waiter.result());
        waiter.end();
        assertNull(waiter.result());
        assertNull(waiter.codec);
        assertNull(waiter.peer);
    }

    /** Of a request whose answer does not come. */
    private static boolean await(Waiter waiter, Duration spin, Duration timeout) {
        waiter.deadlineNanos = System.nanoTime() + timeout.toNanos();
        return waiter.await(spin.toNanos());
    }

    @Test
    @Timeout(60)
    void oneThatSpinsKeepsToItsDeadline() {
        long start = System.nanoTime();
        assertFalse(await(waiter(), LONG, Duration.ofMillis(20)));
        assertTrue(System.nanoTime() - start < LONG.toNanos(), "it has spun on");
    }

    @Test
    @Timeout(60)
    void oneThatSpinsEndsWhenItsThreadIsInterrupted() throws InterruptedException {
        long start = System.nanoTime();
        Thread waiting = Thread.ofPlatform().start(() -> await(waiter(), LONG, LONG.multipliedBy(2)));
        waiting.interrupt();
        waiting.join();
        assertTrue(System.nanoTime() - start < LONG.toNanos(), "it has spun on");
    }
}
