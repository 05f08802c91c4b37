// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ByteSize;

/**
 * What a client does.
 *
 * @param way to produce or to consume
 * @param size of a record's payload
 * @param batch records that are sent at once
 * @param seconds that are measured, after as many for warming up
 * @param clients that begin when all of them are there
 * @param inFlight how many times something has been sent that is not acknowledged, at a time
 * @param rate how often something is sent in a second at most; 0: as often as can be
 */
record Load(LogWay way, ByteSize size, int batch, int seconds, int clients, int inFlight, int rate) {
    /** The time at which it was sent. */
    static final int LEAST_SIZE = Long.BYTES;

    private static final int WINDOW = 1 << 20;
    private static final int LEAST_WINDOW = 4;
    private static final int MOST_WINDOW = 256;

    /** What keeps a broker busy: many small ones, or some large ones. */
    static int window(ByteSize size, int batch) {
        return Math.clamp(Math.min(WINDOW / size.bytes(), MOST_WINDOW) / batch, LEAST_WINDOW, MOST_WINDOW);
    }
}
