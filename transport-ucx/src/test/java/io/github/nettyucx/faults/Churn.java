// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;

import java.net.SocketAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Makes connections, and new ones in the place of those that have ended. */
final class Churn {

    private final Bootstrap bootstrap;
    private final SocketAddress address;
    private final boolean again;
    private final Queue<ChannelFuture> connects = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    /** @param again whether ended ones are replaced */
    Churn(Bootstrap bootstrap, SocketAddress address, boolean again) {
        this.bootstrap = bootstrap;
        this.address = address;
        this.again = again;
    }

    void start(int connections) {
        for (int i = 0; i < connections; i++) {
            connect();
        }
    }

    private void connect() {
        ChannelFuture connect = bootstrap.connect(address);
        connects.add(connect);
        connect.channel().closeFuture().addListener(closed -> {
            if (again && !stopped) {
                connect();
            }
        });
    }

    void stop() {
        stopped = true;
    }

    Queue<ChannelFuture> connects() {
        return connects;
    }
}
