// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.storage.SegmentFile;
import java.util.ArrayDeque;

/** How far a partition is committed, and what has to wait for that. For the broker's event loop only. */
final class Watermark {
    private record Deferred(long offset, Runnable action) { }

    /** In their order. */
    private final ArrayDeque<Deferred> deferred = new ArrayDeque<>();
    private long committed;
    /** Before it everything may be committed that is there: another leader may have done it. */
    private long inherited;
    /** In which the last committed record is, and where it ends there. */
    private SegmentFile segment;
    private int position;

    Watermark(long committed) {
        this.committed = committed;
    }

    /** The offset of the first record that is not committed. */
    long committed() {
        return committed;
    }

    /** Records have been written up to an offset, which is at a position of a segment. */
    void written(long offset, SegmentFile to, int end) {
        when(offset, () -> {
            segment = to;
            position = end;
        });
    }

    /** The end of what is committed of a segment, in bytes. */
    int committedSize(SegmentFile of) {
        return of == segment ? position : of.nextOffset() <= committed ? of.size() : 0;
    }

    /** Does something when all records before an offset are committed, and all that was said before is done. */
    void when(long offset, Runnable action) {
        if (deferred.isEmpty() && offset <= committed) {
            action.run();
        } else {
            deferred.addLast(new Deferred(offset, action));
        }
    }

    /** The same, as far as anybody can have been told of it, by this leader or one before. */
    long toldOf() {
        return Math.max(committed, inherited);
    }

    /**
     * Begins anew; what waits is never done. Nothing has been written to the active segment.
     *
     * @param from where the records begin of which it is not known whether they are committed
     * @param to where they end
     */
    void restart(long from, long to) {
        deferred.clear();
        committed = from;
        inherited = to;
        segment = null;
        position = 0;
    }

    void advance(long to) {
        committed = Math.max(committed, to);
        while (!deferred.isEmpty() && deferred.peekFirst().offset <= committed) {
            deferred.pollFirst().action.run();
        }
    }
}
