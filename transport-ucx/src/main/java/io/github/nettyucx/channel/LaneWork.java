// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.worker.ProgressEngine;

/** What a channel does over its lane when the messages of a turn have been taken: once, however often it is asked for. */
abstract class LaneWork implements Runnable {

    final UcxSocketChannel channel;
    final Lane lane;
    final ProgressEngine engine;
    private boolean scheduled;

    LaneWork(UcxSocketChannel channel, Lane lane, ProgressEngine engine) {
        this.channel = channel;
        this.lane = lane;
        this.engine = engine;
    }

    final void schedule() {
        if (!scheduled) {
            scheduled = true;
            engine.schedule(this);
        }
    }

    @Override
    public final void run() {
        scheduled = false;
        try {
            advance();
        } catch (Throwable e) {
            channel.faulted(e);
        }
    }

    abstract void advance();
}
