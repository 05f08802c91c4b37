// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/**
 * Has the two sides find out that messages are missing behind which nothing comes. Who has sent some, and then nothing for a
 * second, tells how many there were. The messages of a link keep their order. So when that is here all of them are, or never
 * will be.
 */
final class MessageCount {

    private final Outbound outbound;
    /** Messages about memory. The others are counted where they are sent and taken. */
    private int memorySent;
    private int memoryArrived;
    /** What had been sent at the last look. */
    private int seen;
    /** Somebody looks, because there is something that the peer has not been told. */
    private boolean watched;

    MessageCount(Outbound outbound) {
        this.outbound = outbound;
    }

    private int total() {
        return outbound.sent() + memorySent;
    }

    void memorySent() {
        memorySent++;
    }

    void memoryArrived() {
        memoryArrived++;
    }

    /** @param data messages of the stream that have come */
    void check(long tag, int data) throws ProtocolException {
        if (!Tag.isTotal(tag, data + memoryArrived)) {
            throw ProtocolException.ofLoss("messages of the peer's are missing");
        }
    }

    /** @return whether {@link #look} is to be called every second from now on, until it says otherwise */
    boolean isToBeWatched() {
        if (watched || total() == seen) {
            return false;
        }
        watched = true;
        return true;
    }

    /**
     * @param sending whether UCX has not completed all messages about memory
     * @return whether to look again
     */
    boolean look(boolean sending) {
        if (!outbound.canSend()) {
            return false;
        }
        int total = total();
        if (total != seen || sending || !outbound.canSendCount()) {
            seen = total;
            return true;
        }
        watched = false;
        outbound.sendCount(total);
        return false;
    }
}
