// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.ConnectionListener;
import io.github.nettyucx.worker.ProgressEngine;

import java.io.IOException;

/** What a connection tells during a turn; it is acted upon when the turn's messages have been taken. */
final class ConnectionEvents implements ConnectionListener {

    private final UcxSocketChannel channel;
    private final ProgressEngine engine;
    private ChannelInput input;
    private ChannelOutput output;

    ConnectionEvents(UcxSocketChannel channel, ProgressEngine engine) {
        this.channel = channel;
        this.engine = engine;
    }

    void attach(ChannelInput input, ChannelOutput output) {
        this.input = input;
        this.output = output;
    }

    @Override
    public void connectionOpened() {
        engine.schedule(channel::opened);
    }

    @Override
    public void connectionFailed(IOException cause) {
        if (channel.isUnconnected()) {
            engine.schedule(() -> channel.connectFailed(cause));
        } else {
            channel.broken(cause);
            if (channel.isLingering()) {
                // Its acknowledgement will not come: a peer that closes as well may tear it down on its way.
                output.schedule();
            }
        }
    }

    @Override
    public void inputReady() {
        input.arrived();
    }

    @Override
    public void outputReady() {
        output.advanced();
    }

    @Override
    public void outputAcknowledged() {
        if (channel.isLingering()) {
            output.schedule();
        }
    }
}
