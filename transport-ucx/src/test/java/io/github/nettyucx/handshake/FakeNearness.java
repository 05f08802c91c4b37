// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** One host: whoever has it is near to all others that have it. */
public final class FakeNearness implements Nearness {

    private final List<String> shown = new ArrayList<>();
    private int left;
    private boolean full;

    @Override
    public Sign show(byte[] digest) {
        if (full) {
            return null;
        }
        String name = HandshakeFixture.hex(digest);
        shown.add(name);
        left++;
        return () -> assertTrue(shown.remove(name), "removed twice");
    }

    @Override
    public boolean isShown(byte[] digest) {
        return shown.contains(HandshakeFixture.hex(digest));
    }

    /** From now on no sign can be left. */
    void fill() {
        full = true;
    }

    /** The signs that are there, in hexadecimal digits, in the order in which they were left. */
    List<String> shown() {
        return List.copyOf(shown);
    }

    /** How many signs have ever been left. */
    int left() {
        return left;
    }

    /** No sign is left behind. */
    public void assertAtRest() {
        assertEquals(List.of(), shown);
    }
}
