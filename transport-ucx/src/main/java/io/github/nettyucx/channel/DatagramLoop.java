// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;

import java.util.concurrent.TimeUnit;

/** The thread that drives the sockets of all {@link UcxDatagramChannel}s, as long as there are any. */
final class DatagramLoop {

    private static final DefaultThreadFactory THREADS = new DefaultThreadFactory("ucx-datagrams", true);

    private static EventLoopGroup group;
    private static int users;

    private DatagramLoop() {
    }

    static synchronized EventLoop acquire() {
        if (users++ == 0) {
            group = new NioEventLoopGroup(1, THREADS);
        }
        return group.next();
    }

    /** Once for each {@link #acquire}. */
    static synchronized void release() {
        if (--users == 0) {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            group = null;
        }
    }
}
