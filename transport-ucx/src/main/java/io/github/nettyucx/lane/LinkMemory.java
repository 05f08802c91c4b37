// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.memory.MemoryExchange;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.MemoryMessages;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.worker.EndpointPort;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Stands for a connection's {@link MemoryExchange} until somebody needs that: most connections never do, and it is a
 * large part of what an idle one takes.
 */
final class LinkMemory implements MemoryMessages {

    private final EndpointPort port;
    private final Connection connection;
    private final boolean shared;
    private final MemoryExchange.Host host;
    private MemoryExchange exchange;
    private boolean opened;
    private int peerChannelId;
    private Executor loop;
    private Supplier<IOException> end;

    /** @param shared whether the two processes can attach each other's memory */
    LinkMemory(EndpointPort port, Connection connection, boolean shared, MemoryExchange.Host host) {
        this.port = port;
        this.connection = connection;
        this.shared = shared;
        this.host = host;
        connection.memory(this);
    }

    /** From the first call on the connection tells it by itself. */
    MemoryExchange exchange() {
        if (exchange == null) {
            exchange = new MemoryExchange(port, connection, shared, host);
            if (opened) {
                exchange.opened(peerChannelId);
            }
            if (loop != null) {
                exchange.start(loop);
            }
            if (end != null) {
                exchange.ended(end);
            }
        }
        return exchange;
    }

    /** The channel is there. */
    void start(Executor executor) {
        loop = executor;
        if (exchange != null) {
            exchange.start(executor);
        }
    }

    @Override
    public void opened(int peer) {
        opened = true;
        peerChannelId = peer;
    }

    @Override
    public void onMessage(int type, int value, long message, long length) throws ProtocolException {
        exchange().onMessage(type, value, message, length);
    }

    @Override
    public boolean isSending() {
        return false;
    }

    @Override
    public void counted() {
        // There have been no messages.
    }

    @Override
    public void ended(Supplier<IOException> cause) {
        if (end == null) {
            end = cause;
        }
    }
}
