// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

/** One life of a connection, with at most one thing that goes wrong. */
final class SeededRun {

    private enum Trouble {
        NONE,
        /** Both endpoints fail. */
        CUT,
        /** One side closes without a word. */
        RESET,
        /** One side closes in order. */
        CLOSE,
        /** One side stops reading. */
        INPUT_SHUTDOWN,
        /** One of UCX's operations fails. */
        OPERATION,
        /** One side breaks the protocol. */
        VIOLATION
    }

    private static final int STEP_LIMIT = 1_000_000;
    private static final int UCX_VERSION = 1 << 24 | 22 << 16;

    private final Dice dice;
    private final FakeLink link;
    private final Connection.Limits limitsOfA;
    private final Connection.Limits limitsOfB;
    private final Application a;
    private final Application b;
    private final Trouble trouble;
    /** Who is in trouble. */
    private final Application victim;
    private final int troubleStep;
    private final boolean atEnd;
    private boolean troubled;
    /** All bytes have to arrive in spite of it. */
    private boolean orderly = true;
    private String violation;
    private int steps;

    SeededRun(long seed, boolean tracing) {
        dice = new Dice(seed, tracing);
        Weather weather = Weather.of(dice);
        link = new FakeLink(dice, weather);
        limitsOfA = limits();
        limitsOfB = limits();
        a = new Application(link, link.a, limitsOfA, ApplicationPlan.of(dice, limitsOfB.window()), 0, 33_333);
        b = new Application(link, link.b, limitsOfB, ApplicationPlan.of(dice, limitsOfA.window()), 33_333, 0);
        a.connectTo(b);
        b.connectTo(a);
        trouble = dice.chance(40) ? Trouble.NONE : Trouble.values()[dice.below(Trouble.values().length)];
        victim = dice.chance(50) ? a : b;
        troubleStep = dice.chance(30) ? dice.below(20) : dice.below(1000);
        atEnd = dice.chance(20);
        dice.trace(() -> "seed " + seed + ": " + weather + ", " + limitsOfA + ", " + limitsOfB + ", " + trouble + " of "
                + (victim == a ? "A" : "B") + " at step " + troubleStep);
    }

    private Connection.Limits limits() {
        int window = dice.pick(Hello.MIN_WINDOW, Hello.MIN_WINDOW, dice.between(Hello.MIN_WINDOW, 20_000), 65_536,
                262_144);
        int maxMessage = dice.pick(window / 4, window / 4, window / 4, window, dice.between(1, window), 100);
        return new Connection.Limits(UCX_VERSION, window, Math.min(maxMessage, 100_000));
    }

    void run() {
        if (trouble == Trouble.OPERATION) {
            link.failOperation(dice.chance(30) ? dice.below(6) : dice.below(60));
        }
        a.start();
        b.start();
        while (goesOn()) {
            if (++steps > STEP_LIMIT) {
                fail("no end after " + steps + " steps");
            }
            if (isTroubleDue()) {
                makeTrouble();
            }
        }
        checkResult();
        a.close();
        b.close();
        while (goesOn()) {
            assertTrue(++steps <= STEP_LIMIT, "no end of the closing");
        }
        link.a.assertAllReceived();
        link.b.assertAllReceived();
        link.assertEverythingReturned();
    }

    /** Does one thing that can be done. @return whether there was any */
    private boolean goesOn() {
        int start = dice.below(10);
        if (tries(start)) {
            return true;
        }
        for (int i = 0; i < 10; i++) {
            if (tries(i)) {
                return true;
            }
        }
        if (!troubled && trouble != Trouble.NONE) {
            makeTrouble();
            return true;
        }
        return false;
    }

    private boolean isTroubleDue() {
        // Between an end and its acknowledgement there are more things to get wrong than elsewhere.
        return !troubled && (atEnd ? a.watch().hasReceivedFin() || b.watch().hasReceivedFin() : steps >= troubleStep);
    }

    private boolean tries(int choice) {
        return switch (choice) {
            case 0, 1 -> a.turn();
            case 2, 3 -> b.turn();
            case 4 -> a.act();
            case 5 -> b.act();
            default -> link.step();
        };
    }

    // ------------------------------------------------------------------------------------------- trouble

    private void makeTrouble() {
        troubled = true;
        dice.trace(() -> "--- " + trouble);
        switch (trouble) {
            case CUT -> {
                orderly = false;
                link.cut();
            }
            case RESET -> {
                orderly = false;
                victim.close();
            }
            case CLOSE -> {
                orderly = victim.isActive();
                victim.startLinger();
            }
            case INPUT_SHUTDOWN -> victim.discardInput();
            case VIOLATION -> violate();
            default -> {
            }
        }
    }

    private void violate() {
        FakePort from = victim == a ? link.b : link.a;
        FakePort to = victim == a ? link.a : link.b;
        if (!victim.isOpened() || victim.isClosed()) {
            return;
        }
        Connection.Limits limits = victim == a ? limitsOfA : limitsOfB;
        Connection.Limits others = victim == a ? limitsOfB : limitsOfA;
        a.trustsNobody();
        b.trustsNobody();
        switch (dice.below(7)) {
            case 0 -> {
                int type = dice.pick(0, 5, 9, 15);
                from.forge(to.tag(type, 0), 0);
                violation = "the peer sent a message of unknown type " + type;
            }
            case 1 -> {
                from.forge(to.tag(Tag.DATA, 0), 0);
                violation = "the peer sent a message of 0 bytes";
            }
            case 2 -> {
                from.forge(to.tag(Tag.DATA, 0), limits.maxMessage() + 1);
                violation = "the peer sent a message of " + (limits.maxMessage() + 1) + " bytes";
            }
            case 3 -> {
                from.forge(to.tag(Tag.CREDIT, others.window() + 1), 0);
                violation = "the peer granted " + (others.window() + 1) + " bytes";
            }
            case 4 -> {
                from.forge(to.tag(Tag.FIN, 0), 0);
                from.forge(to.tag(Tag.FIN, 0), 0);
                violation = "the peer ended its stream twice";
            }
            case 5 -> {
                from.forge(to.tag(Tag.CREDIT, 1), 10);
                violation = "the peer sent 10 bytes with a message of type 2";
            }
            default -> {
                from.forge(to.tag(Tag.FIN_ACK, 0), 0);
                from.forge(to.tag(Tag.FIN_ACK, 0), 0);
                violation = "the peer acknowledged an end of stream";
            }
        }
    }

    // ------------------------------------------------------------------------------------------- results

    private void checkResult() {
        if (orderly && violation == null && !link.hasFailedOperation()) {
            checkOrderly(a, b);
            checkOrderly(b, a);
        } else {
            checkTroubled(a);
            checkTroubled(b);
        }
        if (violation != null && victim.failure() instanceof ProtocolException failure) {
            String message = failure.getMessage();
            assertTrue(message.startsWith(violation) || message.equals("the peer sent data after the end of its stream"),
                    () -> "'" + message + "' instead of '" + violation + "'");
        }
    }

    /** @param peer the direction from it is checked */
    private void checkOrderly(Application side, Application peer) {
        assertTrue(side.isOpened(), "not opened");
        assertFalse(side.isLingering(), "still lingering");
        if (!side.isInputShutdown()) {
            assertNull(side.failure(), "failed");
        }
        boolean wantedAll = !side.isInputShutdown() && !side.isClosed();
        if (wantedAll || side.hasEnded() && !side.isInputShutdown()) {
            assertTrue(side.hasEnded(), "never read to the end");
            assertEquals(peer.flushed(), side.received());
        }
        if (side.connection().isOpen() && peer.connection().isOpen()) {
            side.assertDone();
            peer.assertDone();
            assertTrue(peer.isAcknowledged(), "never acknowledged");
            side.watch().assertNoCreditIsLost();
        }
    }

    private void checkTroubled(Application side) {
        assertFalse(side.isLingering(), "still lingering");
        if (side.isOpened() && !side.connection().isOpen() && !side.isInputShutdown()) {
            assertTrue(side.isClosed() || side.hasEnded(), "told neither of an end nor of a failure");
        }
        switch (trouble) {
            case CUT -> assertTrue(side.isClosed() || !side.connection().isOpen(), "does not know that it is cut off");
            case RESET, CLOSE -> assertTrue(side.isClosed() || side.hasEnded() || !side.connection().isOpen());
            case OPERATION -> {
                if (link.failedOperationMatters(side.port())) {
                    assertTrue(side.isClosed() || side.failure() != null
                            || side.isOpened() && !side.connection().isOpen(), "goes on after a failed operation");
                }
            }
            case VIOLATION -> {
                if (side == victim) {
                    assertFalse(side.connection().isOpen(), "goes on after a violation");
                }
            }
            default -> {
            }
        }
    }
}
