// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

/** One life of a link and of the connections over it, with at most one thing that goes wrong. */
final class SeededRun {

    private enum Trouble {
        NONE,
        /** Both endpoints fail. */
        CUT,
        /** One process dies: its endpoint and all its sockets end. */
        KILL,
        /** One side of a connection closes without a word. */
        RESET,
        /** The control socket of one connection fails, and the link does not. */
        SOCKET,
        /** One side of a connection closes in order. */
        CLOSE,
        /** One side of a connection stops reading. */
        INPUT_SHUTDOWN,
        /** One of UCX's operations fails. */
        OPERATION,
        /** One side of a connection breaks the protocol. */
        VIOLATION
    }

    /** Two ends of a connection. */
    private record Pair(Application client, Application server) {
        boolean has(Application side) {
            return client == side || server == side;
        }
    }

    private static final int STEP_LIMIT = 1_000_000;
    private static final int CHOICES = 12;

    private final Dice dice;
    private final FakeLink link;
    private final int count;
    private final List<Pair> pairs = new ArrayList<>();
    private final Trouble trouble;
    private final int victimPair;
    private final boolean victimIsClient;
    /** Who is in trouble; {@code null} until there is any. */
    private Application victim;
    private final int troubleStep;
    private final boolean atEnd;
    private boolean troubled;
    /** All bytes of the victim and its peer have to arrive in spite of it. */
    private boolean orderly = true;
    private String violation;
    private int steps;

    SeededRun(long seed, boolean tracing) {
        dice = new Dice(seed, tracing);
        Weather weather = Weather.of(dice);
        count = dice.pick(1, 1, 1, 2, 4);
        link = new FakeLink(dice, weather, count);
        trouble = dice.chance(40) ? Trouble.NONE : Trouble.values()[dice.below(Trouble.values().length)];
        victimPair = dice.below(count);
        victimIsClient = dice.chance(50);
        troubleStep = dice.chance(30) ? dice.below(20) : dice.below(1000);
        atEnd = dice.chance(20);
        dice.trace(() -> "seed " + seed + ": " + weather + ", " + count + " connections, " + trouble + " at step "
                + troubleStep);
    }

    private void connect() {
        FakePort clientPort = dice.chance(50) ? link.a : link.b;
        FakePort serverPort = clientPort == link.a ? link.b : link.a;
        Announced ofClient = Announced.of(dice, clientPort.newChannelId());
        Announced ofServer = Announced.of(dice, serverPort.newChannelId());
        int stream = pairs.size() * 1000;
        Application client = new Application(link, clientPort, ofClient, ofServer,
                ApplicationPlan.of(dice, ofServer.window(), count), stream, stream + 33_333);
        Application server = new Application(link, serverPort, ofServer, ofClient,
                ApplicationPlan.of(dice, ofClient.window(), count), stream + 33_333, stream);
        client.connectTo(server);
        pairs.add(new Pair(client, server));
        dice.trace(() -> client + " " + ofClient + " and " + server + " " + ofServer);
    }

    void run() {
        if (trouble == Trouble.OPERATION) {
            link.failOperation(dice.chance(30) ? dice.below(6) : dice.below(60));
        }
        connect();
        while (goesOn()) {
            if (++steps > STEP_LIMIT) {
                fail("no end after " + steps + " steps");
            }
            if (isTroubleDue()) {
                makeTrouble();
            }
        }
        pairs.forEach(this::check);
        closeAll();
        finish();
        if (!link.hasFailedOperation()) {
            link.assertNothingRuns();
        }
        link.a.close();
        link.b.close();
        finish();
        link.a.assertAllReceived();
        link.b.assertAllReceived();
        link.assertEverythingReturned();
    }

    private void closeAll() {
        for (Pair pair : pairs) {
            pair.client.close();
            pair.server.close();
        }
    }

    private void finish() {
        while (goesOn()) {
            assertTrue(++steps <= STEP_LIMIT, "no end of the closing");
        }
    }

    /** Does one thing that can be done. @return whether there was any */
    private boolean goesOn() {
        int start = dice.below(CHOICES);
        if (tries(start)) {
            return true;
        }
        for (int i = 0; i < CHOICES; i++) {
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
        return !troubled && (atEnd ? pairs.stream().anyMatch(pair -> pair.client.watch().hasReceivedFin()
                || pair.server.watch().hasReceivedFin()) : steps >= troubleStep);
    }

    private boolean tries(int choice) {
        return switch (choice) {
            case 0, 1 -> turn(link.a);
            case 2, 3 -> turn(link.b);
            case 4, 5 -> act();
            case 6 -> connectsOneMore();
            case 7 -> link.a.second() | link.b.second();
            default -> link.step();
        };
    }

    private boolean turn(FakePort port) {
        boolean work = port.turn();
        for (Pair pair : pairs) {
            work |= (pair.client.port() == port ? pair.client : pair.server).turn();
        }
        return work;
    }

    private boolean act() {
        int start = dice.below(2 * pairs.size());
        for (int i = 0; i < 2 * pairs.size(); i++) {
            int choice = (start + i) % (2 * pairs.size());
            Pair pair = pairs.get(choice / 2);
            if ((choice % 2 == 0 ? pair.client : pair.server).act()) {
                return true;
            }
        }
        return false;
    }

    private boolean connectsOneMore() {
        // What has failed is not used by anybody new.
        if (pairs.size() == count || troubled) {
            return false;
        }
        connect();
        return true;
    }

    // ------------------------------------------------------------------------------------------- what came about

    boolean hadEarlyMessages() {
        return pairs.stream().anyMatch(pair -> pair.client.wasEarly() || pair.server.wasEarly());
    }

    boolean hadEndsBySocket() {
        return pairs.stream().anyMatch(pair -> pair.client.hasEndedBySocket() || pair.server.hasEndedBySocket());
    }

    /** Messages for channels that are closed. */
    boolean hadLateMessages() {
        return link.a.droppedCount() + link.b.droppedCount() > 0;
    }

    boolean hadCounts() {
        return link.a.countsTaken() + link.b.countsTaken() > 0;
    }

    boolean hadFailures() {
        return pairs.stream().anyMatch(pair -> pair.client.failure() != null || pair.server.failure() != null);
    }

    /** Connections that went well beside one that did not. */
    boolean hadSurvivors() {
        return hadFailures() && pairs.stream().anyMatch(pair -> isUndisturbed(pair) && !pair.has(victim));
    }

    // ------------------------------------------------------------------------------------------- trouble

    private void makeTrouble() {
        troubled = true;
        Pair pair = pairs.get(Math.min(victimPair, pairs.size() - 1));
        victim = victimIsClient ? pair.client : pair.server;
        dice.trace(() -> "--- " + trouble + " of " + victim);
        switch (trouble) {
            case CUT -> {
                orderly = false;
                link.cut();
            }
            case KILL -> {
                orderly = false;
                for (Pair each : pairs) {
                    (each.client.port() == victim.port() ? each.client : each.server).close();
                }
                victim.port().close();
            }
            case RESET -> {
                orderly = false;
                victim.close();
            }
            case SOCKET -> {
                orderly = false;
                victim.socket().cut();
            }
            case CLOSE -> {
                orderly = victim.isActive();
                victim.startLinger();
            }
            case INPUT_SHUTDOWN -> victim.discardInput();
            case VIOLATION -> violate(pair);
            default -> {
            }
        }
    }

    private void violate(Pair pair) {
        Application other = victim == pair.client ? pair.server : pair.client;
        if (!victim.isOpened() || victim.isClosed()) {
            return;
        }
        victim.trustsNobody();
        other.trustsNobody();
        switch (dice.below(7)) {
            case 0 -> {
                int type = dice.pick(0, 5, 9, 15);
                forge(other, type, 0, 0);
                violation = "the peer sent a message of unknown type " + type;
            }
            case 1 -> {
                forge(other, Tag.DATA, 0, 0);
                violation = "the peer sent a message of 0 bytes";
            }
            case 2 -> {
                int length = victim.announced().maxMessage() + 1;
                forge(other, Tag.DATA, 0, length);
                violation = "the peer sent a message of " + length + " bytes";
            }
            case 3 -> {
                int credit = other.announced().window() + 1;
                forge(other, Tag.CREDIT, credit, 0);
                violation = "the peer granted " + credit + " bytes";
            }
            case 4 -> {
                other.port().forge(other.watch().finTag(victim.announced().channelId()), 0);
                other.port().forge(other.watch().finTag(victim.announced().channelId()), 0);
                violation = "the peer ended its stream twice";
            }
            case 5 -> {
                forge(other, Tag.CREDIT, 1, 10);
                violation = "the peer sent 10 bytes with a message of type 2";
            }
            default -> {
                forge(other, Tag.FIN_ACK, 0, 0);
                forge(other, Tag.FIN_ACK, 0, 0);
                violation = "the peer acknowledged an end of stream";
            }
        }
    }

    /** To the victim. */
    private void forge(Application from, int type, int value, int length) {
        from.port().forge(Tag.of(victim.announced().channelId(), type, value), length);
    }

    // ------------------------------------------------------------------------------------------- results

    private void check(Pair pair) {
        if (isUndisturbed(pair)) {
            checkOrderly(pair.client, pair.server);
            checkOrderly(pair.server, pair.client);
        } else {
            checkTroubled(pair, pair.client);
            checkTroubled(pair, pair.server);
        }
        if (violation != null && pair.has(victim) && victim.failure() instanceof ProtocolException failure) {
            String message = failure.getMessage();
            boolean expected = message.startsWith(violation)
                    || message.equals("the peer sent data after the end of its stream");
            assertTrue(expected, () -> "'" + message + "' instead of '" + violation + "'");
        }
    }

    /** Whether the connection has to have gone well: what happens to another one on the link is nothing to it. */
    private boolean isUndisturbed(Pair pair) {
        if (!troubled) {
            return true;
        }
        return switch (trouble) {
            case CUT, KILL -> false;
            case OPERATION -> !pair.client.hasFailedOperation() && !pair.server.hasFailedOperation();
            default -> !pair.has(victim) || orderly && violation == null;
        };
    }

    /** @param peer the direction from it is checked */
    private void checkOrderly(Application side, Application peer) {
        assertTrue(side.isOpened(), () -> side + " is not open");
        assertFalse(side.isLingering(), () -> side + " is still lingering");
        if (!side.isInputShutdown()) {
            assertNull(side.failure(), () -> side + " failed");
        }
        boolean wantedAll = !side.isInputShutdown() && !side.isClosed();
        if (wantedAll || side.hasEnded() && !side.isInputShutdown()) {
            assertTrue(side.hasEnded(), () -> side + " never read to the end");
            assertEquals(peer.flushed(), side.received(), () -> side + " has not received everything");
        }
        if (side.connection().isOpen() && peer.connection().isOpen()) {
            side.assertDone();
            peer.assertDone();
            assertTrue(peer.isAcknowledged(), () -> peer + " was never acknowledged");
            side.watch().assertNoCreditIsLost();
        }
    }

    private void checkTroubled(Pair pair, Application side) {
        assertFalse(side.isLingering(), () -> side + " is still lingering");
        if (side.isOpened() && !side.connection().isOpen() && !side.isInputShutdown()) {
            assertTrue(side.isClosed() || side.hasEnded(), () -> side + " was told neither of an end nor of a failure");
        }
        switch (trouble) {
            case CUT, SOCKET -> assertTrue(side.isClosed() || !side.connection().isOpen(),
                    () -> side + " does not know that it is cut off");
            case KILL, RESET, CLOSE -> assertTrue(side.isClosed() || side.hasEnded() || !side.connection().isOpen(),
                    () -> side + " does not know that its peer is gone");
            case OPERATION -> {
                if (side.hasFailedOperation()) {
                    assertTrue(side.isClosed() || side.failure() != null
                            || side.isOpened() && !side.connection().isOpen(),
                            () -> side + " goes on after a failed operation");
                }
            }
            case VIOLATION -> {
                if (pair.has(victim) && side == victim) {
                    assertFalse(side.connection().isOpen(), () -> side + " goes on after a violation");
                }
            }
            default -> {
            }
        }
    }
}
