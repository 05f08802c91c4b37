// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;

import java.net.SocketAddress;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Makes connections, some at the same time, for as long as that succeeds, and keeps them. All on one loop. */
final class ConnectStorm {

    private static final int AT_ONCE = 8;
    private static final int BEGUN = 16;

    private final Bootstrap bootstrap;
    private final SocketAddress address;
    private final CountDownLatch begun = new CountDownLatch(BEGUN);
    private final CountDownLatch over = new CountDownLatch(AT_ONCE);
    // Of the loop's thread, until the storm is over.
    private final Set<String> causes = new TreeSet<>();
    private int connected;
    private long slowestFailureMillis;

    ConnectStorm(Bootstrap bootstrap, SocketAddress address) {
        this.bootstrap = bootstrap;
        this.address = address;
    }

    /** Returns when some have succeeded. */
    void begin(long seconds) throws InterruptedException {
        for (int i = 0; i < AT_ONCE; i++) {
            connect();
        }
        if (!begun.await(seconds, TimeUnit.SECONDS)) {
            Child.say("wrong: no connections are made");
        }
    }

    private void connect() {
        long start = System.nanoTime();
        bootstrap.connect(address).addListener((ChannelFutureListener) connect -> done(connect, start));
    }

    private void done(ChannelFuture connect, long start) {
        if (connect.isSuccess()) {
            connected++;
            begun.countDown();
            connect();
        } else {
            slowestFailureMillis = Math.max(slowestFailureMillis, Hosts.millisSince(start));
            causes.add(connect.cause().getClass().getSimpleName());
            over.countDown();
        }
    }

    /** @return how many connections were made, how long the slowest failure took in milliseconds, and what failures */
    String awaitEnd(long seconds) throws InterruptedException {
        if (!over.await(seconds, TimeUnit.SECONDS)) {
            return "0 0 " + over.getCount() + " connects are neither made nor failed";
        }
        return connected + " " + slowestFailureMillis + ' ' + String.join(", ", causes);
    }
}
