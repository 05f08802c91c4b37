// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

class WaiterTest {

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
}
