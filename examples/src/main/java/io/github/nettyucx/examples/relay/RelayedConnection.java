// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import io.github.nettyucx.examples.Explanation;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** What both halves of a relayed connection have to know of each other; for any thread. */
final class RelayedConnection {
    /** As seen from the client that connected to the relay. */
    enum Direction {
        TO_SERVER, TO_CLIENT
    }

    private enum State {
        FLOWING, ENDED
    }

    private final String name;
    private final Consumer<String> log;
    private final Map<Direction, AtomicLong> bytes = new EnumMap<>(Direction.class);
    private final Map<Direction, State> states = new EnumMap<>(Direction.class);
    private boolean reported;

    /**
     * @param log is told in one line how the connection went, once it is over
     */
    RelayedConnection(String name, Consumer<String> log) {
        this.name = name;
        this.log = log;
        for (var direction : Direction.values()) {
            bytes.put(direction, new AtomicLong());
            states.put(direction, State.FLOWING);
        }
    }

    void count(Direction direction, int received) {
        bytes.get(direction).addAndGet(received);
    }

    /** Returns whether both directions have ended now. */
    synchronized boolean ended(Direction direction) {
        states.put(direction, State.ENDED);
        if (isOver()) {
            report("closed by both sides");
        }
        return isOver();
    }

    synchronized boolean isOver() {
        return !states.containsValue(State.FLOWING);
    }

    synchronized void failed(Throwable cause) {
        report(Explanation.of(cause));
    }

    private void report(String how) {
        if (!reported) {
            reported = true;
            log.accept(name + ": " + bytes.get(Direction.TO_SERVER) + " bytes to the server, "
                    + bytes.get(Direction.TO_CLIENT) + " to the client, " + how);
        }
    }
}
