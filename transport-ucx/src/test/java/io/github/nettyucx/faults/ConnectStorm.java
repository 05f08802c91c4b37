// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;

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
    private final Control control;
    private final CountDownLatch begun = new CountDownLatch(BEGUN);
    private final CountDownLatch over = new CountDownLatch(AT_ONCE);
    // Of the loop's thread, until the storm is over.
    private final Set<String> causes = new TreeSet<>();
    private int connected;
    private long slowestFailureMillis;

    /** @param control of this process */
    ConnectStorm(Bootstrap bootstrap, SocketAddress address, Control control) {
        this.bootstrap = bootstrap;
        this.address = address;
        this.control = control;
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
            long end = System.nanoTime();
            long heldUp = control.heldUp(start, end);
            long millis = TimeUnit.NANOSECONDS.toMillis(end - start - heldUp);
            // A loop that was held up gives a peer that has said something its time again.
            slowestFailureMillis = Math.max(slowestFailureMillis, heldUp == 0 ? millis : Math.max(1, millis - timeoutMillis()));
            causes.add(connect.cause().getClass().getSimpleName());
            over.countDown();
        }
    }

    private int timeoutMillis() {
        return (Integer) bootstrap.config().options().get(ChannelOption.CONNECT_TIMEOUT_MILLIS);
    }

    /**
     * @return how many connections were made, how long the slowest failure took in milliseconds, beside what there was
     *         because the process stood still, and what failures
     */
    String awaitEnd(long seconds) throws InterruptedException {
        if (!over.await(seconds, TimeUnit.SECONDS)) {
            return "0 0 " + over.getCount() + " connects are neither made nor failed";
        }
        return connected + " " + slowestFailureMillis + ' ' + String.join(", ", causes);
    }
}
