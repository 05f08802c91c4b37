// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The parts of a ring that are being sent. They are begun in order, by the ring's consumer, and released in any order, by any
 * thread; the ring gets them back in order.
 */
final class Spans {

    /** How many may be under way at the same time. */
    static final int COUNT = 32;

    private final Ring ring;
    private final SpanBuffer[] spans = new SpanBuffer[COUNT];
    /** Serializes who gives back. */
    private final AtomicInteger releases = new AtomicInteger();
    /** Only the consumer adds to it. */
    private final AtomicLong begun = new AtomicLong();
    private volatile long givenBack;
    /** The consumer has found no free one, and goes on when there is. */
    private volatile boolean exhausted;
    private final Runnable onFree;

    /** @param onFree called by any thread when there is a free one again, after there was none */
    Spans(Ring ring, Runnable onFree) {
        this.ring = ring;
        this.onFree = onFree;
        for (int i = 0; i < COUNT; i++) {
            spans[i] = new SpanBuffer(this, ring);
        }
    }

    /** The consumer's: the next one, if there is one that is free; {@link #begin} takes it. */
    SpanBuffer next() {
        if (begun.get() - givenBack == COUNT) {
            exhausted = true;
            if (begun.get() - givenBack == COUNT) {
                return null;
            }
            exhausted = false;
        }
        return spans[(int) begun.getPlain() & COUNT - 1];
    }

    /** Whether {@link #next} would give one. */
    boolean areThere() {
        return begun.get() - givenBack < COUNT;
    }

    /** The consumer's: has it called when one that is under way is released; @return whether there is one */
    boolean tellWhenFree() {
        exhausted = true;
        return areUnderWay();
    }

    /** Whether the channel has some that it has not sent. */
    boolean areUnderWay() {
        return begun.get() != givenBack;
    }

    SpanBuffer begin(int offset, int bytes, long end) {
        SpanBuffer span = spans[(int) begun.getPlain() & COUNT - 1];
        span.begin(offset, bytes, end);
        begun.setRelease(begun.getPlain() + 1);
        return span;
    }

    void discard(long end) {
        spans[(int) begun.getPlain() & COUNT - 1].discard(end);
        begun.setRelease(begun.getPlain() + 1);
        released();
    }

    /** A span has been released; the ring gets back what it can. */
    void released() {
        if (releases.getAndIncrement() != 0) {
            return;
        }
        int seen;
        do {
            seen = releases.get();
            long done = givenBack;
            long end = -1;
            while (done < begun.get() && spans[(int) done & COUNT - 1].isReleased()) {
                end = spans[(int) done & COUNT - 1].end();
                done++;
            }
            if (end >= 0) {
                ring.free(end);
                givenBack = done;
                if (exhausted) {
                    exhausted = false;
                    onFree.run();
                }
            }
        } while (releases.addAndGet(-seen) != 0);
    }
}
