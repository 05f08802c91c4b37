// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ByteSize;

/**
 * What a client does.
 *
 * @param way to produce or to consume
 * @param size of a record's payload
 * @param seconds that are measured, after half as many for warming up
 * @param clients that begin when all of them are there
 * @param inFlight records that are not acknowledged at a time
 * @param rate records in a second at most; 0: as many as there can be
 */
record Load(LogWay way, ByteSize size, int seconds, int clients, int inFlight, int rate) {
    /** The time at which it was sent. */
    static final int LEAST_SIZE = Long.BYTES;

    private static final int WINDOW = 1 << 20;
    private static final int LEAST_WINDOW = 4;
    private static final int MOST_WINDOW = 256;

    /** What keeps a broker busy: many small ones, or some large ones. */
    static int window(ByteSize size) {
        return Math.clamp(WINDOW / size.bytes(), LEAST_WINDOW, MOST_WINDOW);
    }
}
