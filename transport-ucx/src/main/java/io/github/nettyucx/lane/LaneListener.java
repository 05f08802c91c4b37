// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import java.io.IOException;
import java.util.concurrent.Executor;

/**
 * What a {@link Lane} tells its channel. Called from inside the loop's turn: the channel takes note, and acts when the
 * loop runs what is ready.
 */
public interface LaneListener {

    /** Bytes, or the end of the input, may be had. */
    void inputReady();

    /** Sends have completed, or there is room for more. */
    void outputReady();

    /** The peer has everything up to this side's end; or it has gone after the end of its own stream, and never will. */
    void endAcknowledged();

    /** The connection is lost; what came before can still be read. */
    void lost(IOException cause);

    /** There is something to be told about memory: {@link Lane#memory()} delivers it. */
    default void memoryReady() {
        // Who never asks for memory, and has none, is not told.
    }

    /** The lane has thrown what nobody expected, and cannot go on. */
    default void faulted(Throwable cause) {
        // Who has nothing to end has only the log.
    }

    /** Of the channel's event loop, for other threads. */
    default Executor loop() {
        return Runnable::run;
    }
}
