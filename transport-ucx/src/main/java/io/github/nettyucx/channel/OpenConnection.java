// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.wire.CloseReason;
import io.netty.channel.ChannelOutboundBuffer;

import java.io.IOException;

/** What a channel has from its opening on: a lane, and the two directions over it. */
final class OpenConnection {

    private final UcxSocketChannel channel;
    private final Lane lane;
    private final ChannelInput input;
    private final ChannelOutput output;

    /**
     * @param silenceMillis that the peer's host may be silent for, as far as the lane has to see to it; 0 for no limit
     * @param writes        the channel's, {@code null} if it is empty for good
     */
    OpenConnection(UcxSocketChannel channel, Lane lane, LoopLanes loop, int silenceMillis, ChannelOutboundBuffer writes) {
        this.channel = channel;
        this.lane = lane;
        input = new ChannelInput(channel, lane, loop.engine());
        PeerWatch peerWatch = silenceMillis == 0 ? null : new PeerWatch(channel.eventLoop(), lane, silenceMillis);
        output = new ChannelOutput(channel, lane, loop.engine(), peerWatch, writes);
        lane.listener(new ChannelEvents(channel, input, output));
    }

    Lane lane() {
        return lane;
    }

    ChannelInput input() {
        return input;
    }

    ChannelOutput output() {
        return output;
    }

    // ------------------------------------------------------------------------------------------- writing

    /** Sends what has been flushed; what cannot be sent any more fails, and the exception ends the channel. */
    void write(ChannelOutboundBuffer in) throws Exception {
        try {
            output.write();
        } catch (IOException e) {
            if (!channel.config().isAutoClose() || !lane.isReadable() && !lane.isEnding()) {
                throw e;
            }
            // Netty would close the channel, and with it goes what the peer has sent before it went.
            output.failFlushed(in, e);
        }
    }

    /** @throws IOException if there is nobody to be told */
    void endOutput() throws IOException {
        if (lane.failure() != null && !hasEndedInOrder()) {
            // Open only because there is still something to be read.
            throw lane.failure();
        }
        lane.finish(channel.isInputShutdown() && !lane.isInputFinished());
        lane.settle();
    }

    // ------------------------------------------------------------------------------------------- the end

    /** Whether the peer has gone when neither side had anything to say any more. */
    boolean hasEndedInOrder() {
        return lane.closeReason() == CloseReason.ORDERLY;
    }

    /** Whether a close has to wait until what was flushed has been delivered. */
    boolean mustLinger() {
        return lane.mustLinger(output.isDrained());
    }

    /**
     * Why it ends, when the channel is closed.
     *
     * @param lingering the close has waited for the peer
     * @param reset     the application wants no orderly end
     */
    CloseReason closeReason(boolean lingering, boolean reset) {
        CloseReason reason = lane.closeReason();
        if (reason != CloseReason.ABORTED || reset) {
            return reason;
        }
        if (!mustLinger()) {
            // The kernel delivers what it has been given, and then the end.
            return CloseReason.ORDERLY;
        }
        return lingering ? CloseReason.CLOSE_TIMED_OUT : reason;
    }

    void close(boolean reset) {
        lane.close(reset);
        output.closed();
    }
}
