// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.EverySecond;
import io.github.nettyucx.worker.InFlight;
import io.github.nettyucx.worker.MessageSink;
import io.netty.util.ReferenceCounted;

/** An endpoint of one connection on which nothing fails, and what takes time is done when it is asked for. Allocates nothing. */
public abstract class PlainPort implements EndpointPort {

    protected InFlight tracked;
    protected MessageSink sink;

    @Override
    public boolean isFailing() {
        return false;
    }

    @Override
    public int status(long request) {
        return 0;
    }

    @Override
    public void free(long request) {
        // Nothing to free.
    }

    @Override
    public void abandon(long request, ReferenceCounted owner) {
        if (owner != null) {
            owner.release();
        }
    }

    @Override
    public void track(InFlight operation) {
        tracked = operation;
    }

    @Override
    public void everySecond(EverySecond task) {
        // No second goes by.
    }

    @Override
    public void register(int channelId, MessageSink taker) {
        sink = taker;
    }

    @Override
    public void unregister(int channelId) {
        sink = null;
    }
}
