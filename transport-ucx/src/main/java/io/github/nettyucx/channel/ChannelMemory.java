// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.memory.MemoryExchange;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;

import java.nio.channels.NotYetConnectedException;

/** Tells the application what happens to its memory and with the peer's, when the messages of a turn have been taken. */
final class ChannelMemory extends LaneWork implements MemoryExchange.NotificationListener {

    /** Whether there may be something to be told. */
    private boolean used;

    ChannelMemory(UcxSocketChannel channel, Lane lane, ProgressEngine engine) {
        super(channel, lane, engine);
    }

    void arrived() {
        used = true;
        schedule();
    }

    /** The channel is closed: nobody runs what is scheduled if the loop ends as well. */
    void closed() {
        if (used) {
            advance();
        }
    }

    @Override
    void advance() {
        lane.memory().deliver(this);
    }

    @Override
    public void notified(UcxMemoryNotification notification) {
        channel.pipeline().fireUserEventTriggered(notification);
    }

    /** From any thread. @param key that nobody changes any more */
    static Future<UcxRemoteMemory> open(UcxSocketChannel channel, byte[] key) {
        EventLoop loop;
        try {
            loop = channel.eventLoop();
        } catch (IllegalStateException e) {
            // It has not been registered.
            return GlobalEventExecutor.INSTANCE.newFailedFuture(new NotYetConnectedException());
        }
        Promise<UcxRemoteMemory> promise = loop.newPromise();
        try {
            loop.execute(() -> open(channel, key, promise));
        } catch (RuntimeException | OutOfMemoryError e) {
            // The loop has ended, and the channel with it; or there is no memory, or no room, for the task.
            promise.tryFailure(e);
        }
        return promise;
    }

    private static void open(UcxSocketChannel channel, byte[] key, Promise<UcxRemoteMemory> promise) {
        try {
            OpenConnection connection = channel.connection();
            if (connection == null) {
                promise.tryFailure(new NotYetConnectedException());
            } else {
                connection.memory().open(key, promise);
            }
        } catch (Throwable t) {
            // In a task nobody else would learn of it, such as of memory that there is none of.
            promise.tryFailure(t);
        }
    }

    private void open(byte[] key, Promise<UcxRemoteMemory> promise) {
        MemoryExchange memory = lane.memory();
        if (memory == null) {
            promise.tryFailure(new UnsupportedOperationException("lane " + lane.name() + " has no access to the peer's"
                    + " memory: that needs a lane over a link (shm, rdma or tcp); " + channel + " has none because of"
                    + " what the lanes of the two sides allow, see docs/lanes.md"));
            return;
        }
        memory.access().open(key, channel.eventLoop(), promise);
    }
}
