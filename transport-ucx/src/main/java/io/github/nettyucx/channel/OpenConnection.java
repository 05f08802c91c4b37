// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Lane;
import io.github.nettyucx.lane.LaneListener;
import io.github.nettyucx.lane.LoopLanes;
import io.github.nettyucx.wire.CloseReason;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * What a channel has from its opening on: a lane, and the two directions over it. What the lane tells during a turn is acted
 * upon when the turn's messages have been taken.
 */
final class OpenConnection implements LaneListener {

    private final UcxSocketChannel channel;
    private final Lane lane;
    private final ChannelInput input;
    private final ChannelOutput output;
    private final ChannelMemory memory;
    /** Why a write has failed: the channel closes for it when all that came before has been read, or the time for that is over. */
    private IOException broken;
    /** Of an application that does not read; {@code null} as long as nothing has failed. */
    private Future<?> unreadTimeout;

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
        memory = new ChannelMemory(channel, lane, loop.engine());
        lane.listener(this);
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

    ChannelMemory memory() {
        return memory;
    }

    // ------------------------------------------------------------------------------------------- what the lane tells

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

    // ------------------------------------------------------------------------------------------- writing

    /** Sends what has been flushed; what cannot be sent any more fails, and the exception ends the channel. */
    void write(ChannelOutboundBuffer in) throws Exception {
        try {
            output.write();
        } catch (IOException e) {
            // Else the peer is there, and what failed is this side's, such as a file: it must not miss that silently.
            boolean peerGone = lane.isEnding() || !lane.isOutputOpen();
            if (!channel.config().isAutoClose() || !peerGone || !lane.isReadable() && !lane.isEnding()) {
                throw e;
            }
            // Netty would close the channel, and with it goes what the peer has sent before it went.
            markBroken(e);
            output.fail(in, e);
        }
    }

    /** What is to be read is kept for as long as a close would wait for a peer: an application may never read again. */
    private void markBroken(IOException cause) {
        if (broken == null) {
            broken = cause;
            unreadTimeout = channel.eventLoop().schedule(() -> channel.unsafe().close(channel.voidPromise()),
                    channel.config().getCloseTimeoutMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** @throws IOException if there is nobody to be told, or what was to be sent before has failed */
    void endOutput() throws IOException {
        if (broken != null) {
            throw broken;
        }
        if (lane.failure() != null && !hasEndedInOrder()) {
            // Open only because there is still something to be read.
            throw lane.failure();
        }
        lane.finish(channel.isInputShutdown() && !lane.isInputFinished());
        lane.settle();
    }

    // ------------------------------------------------------------------------------------------- the end

    /**
     * Everything that came before has been read: tells the application, and fails what it still wanted to send. A peer
     * that goes when this side neither writes nor reads any more does what is expected of it.
     */
    void endedBy(IOException cause) {
        if (!hasEndedInOrder()) {
            channel.pipeline().fireExceptionCaught(cause);
        }
        // With the reason, rather than with the close that follows from it.
        failWaiting();
        if (channel.isReading()) {
            channel.unsafe().close(channel.unsafe().voidPromise());
        }
    }

    /** The connection is lost: fails what waits to be sent. */
    void failWaiting() {
        if (channel.isReading() && !output.isDrained()) {
            output.failWaiting();
        }
    }

    /** Whether the peer has gone when neither side had anything to say any more. */
    boolean hasEndedInOrder() {
        return lane.closeReason() == CloseReason.ORDERLY;
    }

    /** Whether nothing but what is still to be read keeps the channel open. */
    boolean isBroken() {
        return broken != null;
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

    /** The channel is closed, and everything has been sent: of the output only its end is left, and nothing of the rest. */
    void leave() {
        output.giveUp();
        lane.leave();
        lane.finish(true);
        lane.settle();
        memory.closed();
    }

    void close(boolean reset) {
        if (unreadTimeout != null) {
            unreadTimeout.cancel(false);
        }
        lane.close(reset);
        output.closed();
        memory.closed();
    }
}
