// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.io.IOException;

/** A connection as those see it who do not read from it, but want to know whether the peer is still there. */
public interface StreamEnd {

    /** Above 0 if there are bytes, which stay; 0 at the end; or the negative error number, {@code -EAGAIN} for nothing yet. */
    int peek();

    /** Ends what this side sends, whatever it still reads: the peer learns of it at once. */
    void shutdownOutput() throws IOException;

    /** The socket's close then sends a reset, and no end of the stream; what was not yet sent is thrown away. */
    void resetOnClose() throws IOException;
}
