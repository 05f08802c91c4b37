// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** Connections that make a round trip a minute each, evenly spread over the minute, as long as they last. */
final class Minutely implements ClientHandler.Turns {
    private static final int SIZE = 16;
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final long firstNanos;

    private Minutely(long firstNanos) {
        this.firstNanos = firstNanos;
    }

    static void start(List<ClientHandler> connections) {
        for (var i = 0; i < connections.size(); i++) {
            connections.get(i).start(new Phase(Phase.Kind.ECHO, SIZE, 1, Phase.ENDLESS), null,
                    new Minutely(PERIOD_NANOS * i / connections.size()));
        }
    }

    @Override
    public void begun(ClientHandler handler) {
        handler.pingLater(firstNanos);
    }

    @Override
    public void completed(ClientHandler handler, boolean last) {
        handler.pingLater(PERIOD_NANOS);
    }
}
