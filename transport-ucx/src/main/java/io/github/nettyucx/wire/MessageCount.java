// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/**
 * Has the two sides find out that messages are missing behind which nothing comes. Who has sent some, and then nothing for a
 * second, tells how many there were. The messages of a link keep their order. So when that is here all of them are, or never
 * will be. And so is each part of them, if UCX has completed them all by then.
 */
final class MessageCount {

    private final Outbound outbound;
    /** Messages about memory. The others are counted where they are taken. */
    private int memoryArrived;
    /** What had been sent at the last look. */
    private int seen;
    /** Somebody looks, because there is something that the peer has not been told. */
    private boolean watched;

    MessageCount(Outbound outbound) {
        this.outbound = outbound;
    }

    void memoryArrived() {
        memoryArrived++;
    }

    /** @param data messages of the stream that have come */
    void check(long tag, int data) throws ProtocolException {
        if (!Tag.isCount(tag, data + memoryArrived)) {
            throw ProtocolException.ofLoss("messages of the peer's are missing");
        }
    }

    /** Whether {@link #look} is to be called every second from now on, and nobody has been asked to. */
    boolean isToBeWatched() {
        return !watched && outbound.posted() != seen;
    }

    /** Whether it is to be called. */
    boolean isWatched() {
        return watched;
    }

    /** It will be, until it says otherwise. */
    void watched() {
        watched = true;
    }

    /** @param sending whether UCX has not completed all messages about memory */
    void look(boolean sending) {
        if (!outbound.canSend()) {
            watched = false;
            return;
        }
        int posted = outbound.posted();
        boolean quiet = posted == seen;
        seen = posted;
        if (!quiet || !outbound.canSendCount()) {
            return;
        }
        if (sending || !outbound.isIdle()) {
            // For ever, if the announcement of a large one has been lost.
            if (outbound.told() != posted) {
                outbound.sendCount(false);
            }
            return;
        }
        watched = false;
        outbound.sendCount(true);
    }
}
