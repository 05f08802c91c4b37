// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.PromiseNotifier;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;

/** Ends one direction of a channel before the other one: the output after the bytes that were flushed before. */
final class HalfClose {

    private final AbstractUcxStreamChannel channel;
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    /**
     * Of the output: waits for the end of the handshake, for bytes that were flushed before, or until it is known how a peer
     * that has gone has ended.
     */
    private ChannelPromise waiting;
    /** Of the input: waits for the end of the handshake. */
    private ChannelPromise waitingInput;
    /** Nothing is waited for any more, and the channel may not say yet that it is closed. */
    private boolean closed;

    HalfClose(AbstractUcxStreamChannel channel) {
        this.channel = channel;
    }

    // ------------------------------------------------------------------------------------------- output

    /** From any thread. */
    boolean isOutputEnded() {
        return outputEnded;
    }

    /** Whether the application has ended its output: it cannot write any more. */
    boolean isOutputEnding() {
        return waiting != null;
    }

    /** From any thread. */
    void endOutput(ChannelPromise promise) {
        inLoop(() -> endOutput0(promise));
    }

    private void endOutput0(ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return;
        }
        if (closed) {
            fail(promise);
        } else if (waiting != null) {
            // The second call must not overtake the bytes that the first one waits for.
            waiting.addListener(new PromiseNotifier<>(promise));
        } else if (channel.isBeingAccepted() || channel.isReading() && !outputEnded && !channel.canEndOutput()) {
            // Others may come to wait for it.
            waiting = promise.unvoid();
        } else {
            channel.endOutputNow(promise);
        }
    }

    /** After bytes have been sent, or the connection has been lost. */
    void advance() {
        if (waiting != null && channel.canEndOutput()) {
            ChannelPromise promise = waiting;
            waiting = null;
            channel.endOutputNow(promise);
        }
    }

    void outputEnded() {
        outputEnded = true;
    }

    // ------------------------------------------------------------------------------------------- input

    /** Whether the application has ended its input, or been told that the peer has. From any thread. */
    boolean isInputEnded() {
        return inputEnded;
    }

    void inputEnded() {
        inputEnded = true;
    }

    /** From any thread. */
    void endInput(ChannelPromise promise) {
        inLoop(() -> endInput0(promise));
    }

    private void endInput0(ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return;
        }
        if (closed) {
            fail(promise);
        } else if (waitingInput != null) {
            waitingInput.addListener(new PromiseNotifier<>(promise));
        } else if (channel.isBeingAccepted()) {
            waitingInput = promise.unvoid();
        } else if (channel.isReading()) {
            inputEnded();
            channel.endInputNow();
            promise.trySuccess();
        } else {
            promise.tryFailure(channel.isUnconnected() ? new NotYetConnectedException()
                    : new ClosedChannelException());
        }
    }

    // ------------------------------------------------------------------------------------------- both

    /**
     * Both at once: an output that waits for a peer who does the same would wait for an input that nobody reads any more.
     * From any thread.
     */
    void endBoth(ChannelPromise promise) {
        ChannelFuture output = channel.shutdownOutput();
        ChannelFuture input = channel.shutdownInput();
        output.addListener((ChannelFutureListener) sent -> input.addListener((ChannelFutureListener) done -> {
            if (!sent.isSuccess()) {
                promise.tryFailure(sent.cause());
            } else if (!done.isSuccess()) {
                promise.tryFailure(done.cause());
            } else {
                promise.trySuccess();
            }
        }));
    }

    /** An accepted channel is open. The end of its output waits for what was flushed meanwhile. */
    void opened() {
        ChannelPromise promise = waitingInput;
        if (promise != null) {
            waitingInput = null;
            endInput0(promise);
        }
    }

    /** The channel has been closed. */
    void closed() {
        closed = true;
        inputEnded = true;
        outputEnded = true;
        // Forgotten before their listeners can come back here.
        ChannelPromise output = waiting;
        ChannelPromise input = waitingInput;
        waiting = null;
        waitingInput = null;
        fail(output);
        fail(input);
    }

    private static void fail(ChannelPromise promise) {
        if (promise != null) {
            promise.tryFailure(new ClosedChannelException());
        }
    }

    private void inLoop(Runnable task) {
        EventLoop loop = channel.eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }
}
