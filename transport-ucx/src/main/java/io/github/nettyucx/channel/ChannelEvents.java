// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.LaneListener;

import java.io.IOException;
import java.util.concurrent.Executor;

/** What a lane tells during a turn; it is acted upon when the turn's messages have been taken. */
record ChannelEvents(UcxSocketChannel channel, ChannelInput input, ChannelOutput output, ChannelMemory memory)
        implements LaneListener {

    @Override
    public void inputReady() {
        input.arrived();
    }

    @Override
    public void outputReady() {
        output.advanced();
    }

    @Override
    public void endAcknowledged() {
        if (channel.isLingering()) {
            output.schedule();
        }
    }

    /** It is told to the application when everything that came before has been read. */
    @Override
    public void lost(IOException cause) {
        input.failed(cause);
        if (channel.isLingering() || channel.halfClose.isOutputEnding()) {
            // Its acknowledgement will not come: a peer that closes as well may tear it down on its way.
            output.schedule();
        }
    }

    @Override
    public void faulted(Throwable cause) {
        channel.faulted(cause);
    }

    @Override
    public void memoryReady() {
        memory.arrived();
    }

    @Override
    public Executor loop() {
        return channel.eventLoop();
    }
}
