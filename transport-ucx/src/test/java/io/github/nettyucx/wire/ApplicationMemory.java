// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Where an {@link Application} has its buffers from. Now and then there is none, and never too much. */
final class ApplicationMemory {

    private static final class OutOfMemory extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private final FakeLink link;
    private final Dice dice;
    private final int window;
    private final List<ByteBuf> stashes = new ArrayList<>();
    private int failuresLeft;

    /** @param failures how often there is no memory for what the application has not asked for */
    ApplicationMemory(FakeLink link, int window, int failures) {
        this.link = link;
        dice = link.dice;
        this.window = window;
        failuresLeft = failures;
    }

    ByteBuf forReading(int length) {
        return link.memory.allocate(dice.chance(50) ? length : length + dice.below(3000));
    }

    ByteBuf stash(int length) {
        if (failuresLeft > 0 && dice.chance(20)) {
            failuresLeft--;
            dice.trace(() -> "no memory");
            throw new OutOfMemory();
        }
        ByteBuf buffer = link.memory.allocate(length);
        stashes.removeIf(stash -> stash.refCnt() == 0);
        stashes.add(buffer);
        long memory = stashes.stream().mapToLong(ByteBuf::capacity).sum();
        assertTrue(memory <= 3L * window, () -> memory + " bytes of memory for a window of " + window);
        return buffer;
    }
}
