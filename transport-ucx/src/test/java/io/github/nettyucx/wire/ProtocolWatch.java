// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The rules for what one side sends, checked on the messages alone: it knows nothing of the code that is tested, not
 * even its constants.
 */
final class ProtocolWatch {

    private static final int MESSAGE_CHARGE = 64;

    private final int window;
    private final int maxMessage;
    private ProtocolWatch peer;

    private final List<FakeMessage> data = new ArrayList<>();
    private long spent;
    private long creditReceived;
    private boolean finSent;

    private long charged;
    private long granted;
    private boolean finReceived;
    private boolean finAcknowledged;
    private boolean discarding;
    private boolean blind;

    /**
     * @param window     that this side announces
     * @param maxMessage that this side announces
     */
    ProtocolWatch(int window, int maxMessage) {
        this.window = window;
        this.maxMessage = maxMessage;
    }

    void watchWith(ProtocolWatch other) {
        peer = other;
    }

    ProtocolWatch peer() {
        return peer;
    }

    /** This side throws away what it gets, so that it may acknowledge what it did not receive. */
    void discards() {
        discarding = true;
    }

    /** From now on the peer cannot be trusted, so that what this side does is not to be judged by it. */
    void looksAway() {
        blind = true;
    }

    /** A FIN behind all that this side has sent. */
    long finTag(int channelId) {
        return Tag.ofFin(channelId, data.size(), false);
    }

    void posted(FakeMessage message) {
        if (blind) {
            return;
        }
        int value = Tag.value(message.tag);
        switch (Tag.type(message.tag)) {
            case Tag.DATA -> {
                assertFalse(finSent, "data after FIN");
                assertTrue(message.length >= 1 && message.length <= peer.maxMessage,
                        () -> message + ": allowed are 1 to " + peer.maxMessage + " bytes");
                spent += message.length + MESSAGE_CHARGE;
                assertTrue(spent - creditReceived <= peer.window, () -> message + " overruns the window of "
                        + peer.window + " by " + (spent - creditReceived - peer.window));
                assertTrue(Tag.isNumber(message.tag, data.size()), () -> message + " has another number");
                data.add(message);
                grant(Tag.grant(message.tag));
            }
            case Tag.CREDIT -> {
                assertEquals(0, message.length);
                assertTrue(value > 0, "granted nothing");
                grant(value);
            }
            case Tag.FIN -> {
                assertEquals(0, message.length);
                assertFalse(finSent, "two FINs");
                assertTrue(Tag.isCount(message.tag, data.size()), () -> message + " has another count");
                finSent = true;
            }
            case Tag.FIN_ACK -> {
                assertEquals(0, message.length);
                assertTrue(finReceived, "acknowledged before the FIN");
                assertFalse(finAcknowledged, "acknowledged twice");
                finAcknowledged = true;
                for (FakeMessage before : peer.data) {
                    assertTrue(discarding || before.fate() == FakeMessage.Fate.IN_MEMORY,
                            () -> "acknowledged, but still " + before.fate() + ": " + before);
                }
            }
            case Tag.COUNT -> {
                assertEquals(0, message.length);
                assertTrue(Tag.isCount(message.tag, data.size()), () -> message + " has another count");
            }
            default -> throw new AssertionError("sent " + message);
        }
    }

    private void grant(int credit) {
        granted += credit;
        assertTrue(granted <= charged, () -> "granted " + granted + ", but only " + charged + " was ever spent");
    }

    void delivering(FakeMessage message) {
        message.probed();
        switch (Tag.type(message.tag)) {
            case Tag.DATA -> {
                charged += message.length + MESSAGE_CHARGE;
                creditReceived += Tag.grant(message.tag);
            }
            case Tag.CREDIT -> creditReceived += Tag.value(message.tag);
            case Tag.FIN -> finReceived = true;
            default -> {
            }
        }
    }

    boolean hasReceivedFin() {
        return finReceived;
    }

    boolean hasSentFin() {
        return finSent;
    }

    /** When all has been read: what has not been granted again is too little for a message of its own. */
    void assertNoCreditIsLost() {
        assertEquals(peer.spent, charged, "messages are missing");
        assertEquals(granted, peer.creditReceived, "grants are missing");
        assertTrue(charged - granted < window / 4,
                () -> charged - granted + " of " + window + " bytes of credit are not granted again");
    }

    /**
     * Bytes of the messages that lie in this side's memory, up to the first one that does not.
     *
     * @param promptly UCX receives at once what has arrived as a whole, so that it might as well lie there
     */
    long deliverableBytes(boolean promptly) {
        long sum = 0;
        for (FakeMessage message : peer.data) {
            boolean arrived = message.isProbed() && !message.isRendezvous();
            if (message.fate() != FakeMessage.Fate.IN_MEMORY && !(promptly && arrived)) {
                break;
            }
            sum += message.length;
        }
        return sum;
    }
}
