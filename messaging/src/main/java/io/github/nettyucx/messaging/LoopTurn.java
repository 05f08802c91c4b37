// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.ArrayList;
import java.util.List;

/**
 * While a connection of an event loop reads, what its handlers send is collected, and goes out together when the reading is
 * over. Only for the loop's own thread.
 */
final class LoopTurn {

    private final List<Peer> waiting = new ArrayList<>();
    private final LoopCounters counters = new LoopCounters();
    private boolean reading;
    private boolean ending;

    /** Any thread may read them. */
    LoopCounters counters() {
        return counters;
    }

    void begin() {
        reading = true;
    }

    /** @return whether the peer will be drained when the reading is over */
    boolean defer(Peer peer) {
        if (reading) {
            waiting.add(peer);
        }
        return reading;
    }

    void end() {
        reading = false;
        ending = true;
        try {
            for (int i = 0; i < waiting.size(); i++) {
                waiting.get(i).drain();
            }
        } finally {
            ending = false;
            waiting.clear();
        }
    }

    /** Whether what handlers have sent is going out. */
    boolean isEnding() {
        return ending;
    }
}
