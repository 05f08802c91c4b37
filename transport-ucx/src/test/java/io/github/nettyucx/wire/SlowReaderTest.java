// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A side that takes little at a time gives credit for that as well, before a quarter of the window has come together. */
class SlowReaderTest extends ConnectionFixture {

    private static final int LENGTH = 2000;
    private static final int CHARGED = LENGTH + Limits.MESSAGE_CHARGE;

    private void deliver(int messages) {
        for (int i = 0; i < messages; i++) {
            port.deliver(Tag.DATA, 0, new byte[LENGTH]);
        }
    }

    private List<Integer> grants() {
        return port.sent.stream().filter(sent -> sent.type() == Tag.CREDIT).map(ScriptedPort.Sent::value).toList();
    }

    @Test
    void grantsAfterAWhileWhatAPeerMayBeWaitingFor() {
        open();
        deliver(4);
        read(LENGTH);
        assertEquals(List.of(), grants());
        assertFalse(port.second(), "there is nothing more to grant");
        assertEquals(List.of(CHARGED), grants());
        read(LENGTH);
        // What is left is less than a half of the window.
        assertFalse(port.second());
        assertEquals(List.of(CHARGED), grants());
    }

    @Test
    void goesOnWhileItReads() {
        open();
        deliver(7);
        for (int i = 1; i <= 3; i++) {
            read(LENGTH);
            assertFalse(port.second());
            deliver(1);
            assertEquals(i, grants().size());
        }
    }

    @Test
    void saysNothingToAPeerThatHasCreditLeft() {
        open();
        deliver(2);
        read(LENGTH);
        assertFalse(port.second());
        assertEquals(List.of(), grants());
    }

    /** The peer has sent all that it wants to, and closes. */
    @Test
    void tellsOfMuchWhateverTheWindow() throws ProtocolException {
        Window window = new Window(16 * 1024 * 1024, MAX_MESSAGE);
        for (int i = 0; i < 10; i++) {
            window.spend(LENGTH);
        }
        for (int i = 0; i < 7; i++) {
            window.owe(CHARGED);
        }
        assertFalse(window.isGrantWaitedFor());
        window.owe(CHARGED);
        assertTrue(window.isGrantWaitedFor());
        assertFalse(window.isGrantDue());
    }

    @Test
    void waitsUntilAGrantCanBeSent() {
        open();
        deliver(5);
        read(LENGTH);
        // One that is under way, which no other may overtake.
        port.answer(ScriptedPort.PENDING);
        assertFalse(port.second());
        deliver(1);
        read(LENGTH);
        assertTrue(port.second());
        assertEquals(1, grants().size());
        port.completeAll();
        port.poll();
        port.second();
        assertEquals(List.of(CHARGED, CHARGED), grants());
    }
}
