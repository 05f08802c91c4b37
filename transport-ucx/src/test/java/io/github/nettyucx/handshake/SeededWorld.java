// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A few event loops that connect to each other, several connections at a time, in an order that follows from a seed.
 * Bytes come in pieces and late, links come late or not at all, some of the connections are damaged or closed.
 */
final class SeededWorld {

    /** What a run has come across, so that it can be seen that nothing is left out. */
    enum Sight {
        SHM, RDMA, TCP, SOCKET, KNOWN_LINK, NEW_LINK, NEXT_LANE, WAITED, STALE, FOUND_BEFORE_GO, ACCEPT_FAILED, COMPLETE_FAILED,
        UNAVAILABLE, WITHDRAWN, ABANDONED, LINK_LOST, CLIENT_ONLY, CLOSED, DAMAGED_AND_OPEN, NO_COMMON_LANE, NO_SECRET,
        WRONG_SECRET, PROTOCOL_VIOLATION, OTHER_PROGRAM, OTHER_PROTOCOL_VERSION, CONNECT_FAILED, NOT_NEAR
    }

    private static final String[] LANES = {"shm,rdma,socket", "shm,rdma,socket", "shm,socket", "rdma,shm", "shm",
        "tcp,socket", "socket", "rdma,tcp,shm,socket"};

    private static final List<String> FAILURES = List.of("no memory", "no descriptors", "no worker");

    private record Engine(Party party, FakeLinks links) {
    }

    private final Random random;
    private final Map<Sight, Integer> seen;
    private final List<Engine> servers = new ArrayList<>();
    private final List<Engine> clients = new ArrayList<>();
    private final List<SeededConnection> connections = new ArrayList<>();
    private final List<Runnable> tasks = new ArrayList<>();
    private final FakeNearness host = new FakeNearness();
    /** Where the clients are: there, or elsewhere though they say that they are there. */
    private final FakeNearness clientsHost;
    private final boolean linksFail;
    private final boolean asynchronous;
    /** Connections are made one after the other rather than at the same time. */
    private final boolean patient;

    SeededWorld(long seed, Map<Sight, Integer> seen) {
        // Seeds that follow each other begin alike.
        this.random = new Random(seed * 0x9e3779b97f4a7c15L);
        this.seen = seen;
        this.linksFail = random.nextInt(4) == 0;
        this.asynchronous = random.nextBoolean();
        this.patient = random.nextBoolean();
        int failing = random.nextInt(4) == 0 ? 3 : Integer.MAX_VALUE;
        for (int i = 0; i <= random.nextInt(2); i++) {
            servers.add(engine(failing));
        }
        for (int i = 0; i <= random.nextInt(2); i++) {
            clients.add(random.nextInt(20) == 0 ? servers.getFirst() : engine(failing));
        }
        clientsHost = random.nextInt(10) == 0 ? new FakeNearness() : host;
        int secrets = random.nextInt(50);
        boolean damages = random.nextBoolean();
        for (int i = 1 + random.nextInt(7); i > 0; i--) {
            connections.add(connection(secrets, damages && random.nextInt(3) == 0));
        }
    }

    private Engine engine(int failing) {
        long host = random.nextInt(10) == 0 ? 2 : 1;
        Party party = new Party(new ProcessIdentity(host, 1, 1, 1, random.nextLong()), random.nextLong());
        FakeLinks links = new FakeLinks(party, random);
        links.acceptFailure = lane -> random.nextInt(failing) == 0 ? FAILURES.get(0) : null;
        links.completeFailure = lane -> random.nextInt(failing) == 0 ? FAILURES.get(1) : null;
        links.reachFailure = lane -> random.nextInt(failing) == 0 ? FAILURES.get(1) : null;
        links.unavailable = lane -> random.nextInt(failing) == 0 ? see(FAILURES.get(2), Sight.UNAVAILABLE) : null;
        boolean keeps = random.nextBoolean();
        links.keepsIdle = () -> keeps || random.nextBoolean();
        if (asynchronous) {
            links.later = tasks::add;
        }
        return new Engine(party, links);
    }

    private String see(String reason, Sight sight) {
        see(sight, 1);
        return reason;
    }

    private void see(Sight sight, int times) {
        seen.merge(sight, times, Integer::sum);
    }

    private SeededConnection connection(int secrets, boolean damaged) {
        Engine client = clients.get(random.nextInt(clients.size()));
        Engine server = servers.get(random.nextInt(servers.size()));
        String lanes = LANES[random.nextInt(LANES.length)];
        TestTerms ours = TestTerms.client().party(client.party).lanes(lanes).near(clientsHost);
        TestTerms theirs = TestTerms.server().party(server.party).near(host)
                .lanes(random.nextInt(4) == 0 ? LANES[random.nextInt(LANES.length)] : lanes);
        if (secrets < 20) {
            ours.secret(secrets == 0 ? null : HandshakeFixture.SECRET);
            theirs.secret(secrets == 1 ? null : secrets == 2 ? "another one of enough bytes" : HandshakeFixture.SECRET);
        }
        return new SeededConnection(random, ours.build(), theirs.build(), client.links, server.links, damaged);
    }

    void run() {
        boolean closes = random.nextInt(3) == 0;
        while (step(closes)) {
            // One after the other.
        }
        for (SeededConnection connection : connections) {
            connection.check(linksFail);
            if (clientsHost != host && connection.isOpen()) {
                assertNotEquals(LaneKind.SHM, connection.client.outcome.lane(), "the two are not on one host");
            }
            count(connection);
        }
        for (SeededConnection connection : connections) {
            connection.client.close();
            connection.server.close();
        }
        runTasks();
        host.assertAtRest();
        clientsHost.assertAtRest();
        for (List<Engine> engines : List.of(servers, clients)) {
            for (Engine engine : engines) {
                engine.links.assertAtRest();
                count(engine.links);
            }
        }
    }

    /** Does one of the things that can be done. */
    private boolean step(boolean closes) {
        List<Runnable> possible = new ArrayList<>();
        SeededConnection unstarted = null;
        for (SeededConnection connection : connections) {
            if (!connection.isStarted()) {
                unstarted = connection;
                continue;
            }
            if (connection.isOpen() && random.nextInt(30) == 0) {
                // What comes next finds links that nobody uses any more, or that only one side has kept.
                possible.add(connection.client::close);
                possible.add(connection.server::close);
            }
            for (SeededConnection.End end : List.of(connection.client, connection.server)) {
                if (end.hasWork()) {
                    possible.add(end::take);
                }
                if (closes && random.nextInt(60) == 0) {
                    possible.add(end::close);
                }
            }
        }
        if (!tasks.isEmpty()) {
            possible.add(() -> tasks.remove(random.nextInt(tasks.size())).run());
        }
        if (unstarted != null && (possible.isEmpty() || !patient || random.nextInt(20) == 0)) {
            possible.add(unstarted::start);
        }
        if (possible.isEmpty()) {
            return endWhatHangs();
        }
        if (linksFail && random.nextInt(20) == 0) {
            loseALink();
        }
        possible.get(random.nextInt(possible.size())).run();
        return true;
    }

    /** As a timeout does: of those who wait for bytes that a damaged wire does not have, or for one who waits so. */
    private boolean endWhatHangs() {
        boolean hangs = false;
        for (SeededConnection connection : connections) {
            if (!connection.isOver()) {
                hangs = true;
                if (connection.isDamaged()) {
                    connection.client.close();
                    connection.server.close();
                    return true;
                }
            }
        }
        assertTrue(!hangs, "a connection hangs that nothing has happened to");
        return false;
    }

    private void loseALink() {
        List<Engine> engines = random.nextBoolean() ? servers : clients;
        List<FakeLinks.Half> halves = engines.get(random.nextInt(engines.size())).links.halves;
        if (!halves.isEmpty()) {
            FakeLinks.Half half = halves.get(random.nextInt(halves.size()));
            if (half.isUsable()) {
                half.gone = true;
                see(Sight.LINK_LOST, 1);
            }
        }
    }

    private void runTasks() {
        while (!tasks.isEmpty()) {
            tasks.removeLast().run();
        }
    }

    // -------------------------------------------------------------------------------------- what was seen

    private void count(SeededConnection connection) {
        if (connection.isOpen()) {
            see(Sight.valueOf(connection.client.outcome.lane().name()), 1);
            see(Sight.DAMAGED_AND_OPEN, connection.isDamaged() ? 1 : 0);
            boolean isNew = connection.client.outcome.link() != null && connection.server.said() > Answer.LENGTH;
            boolean isLink = connection.client.outcome.link() != null;
            see(isNew ? Sight.NEW_LINK : Sight.KNOWN_LINK, isLink ? 1 : 0);
            see(Sight.NEXT_LANE, isLink && connection.client.outcome.reasons().stream().anyMatch(
                    reason -> FAILURES.stream().anyMatch(reason::endsWith)) ? 1 : 0);
        }
        see(Sight.NOT_NEAR, connection.isOpen() && connection.server.outcome.reasons().stream().anyMatch(
                reason -> reason.contains("has not shown that it is on this host")) ? 1 : 0);
        see(Sight.CLIENT_ONLY, connection.client.outcome != null && connection.server.outcome == null ? 1 : 0);
        see(Sight.CLOSED, connection.isClosed() ? 1 : 0);
        for (SeededConnection.End end : List.of(connection.client, connection.server)) {
            // What a damaged wire has the peer say means nothing.
            if (end.failure != null && !end.failure.ofPeer()) {
                see(Sight.valueOf(end.failure.reason().name()), 1);
            }
        }
    }

    private void count(FakeLinks links) {
        see(Sight.WAITED, links.waited);
        see(Sight.STALE, links.markedStale);
        see(Sight.FOUND_BEFORE_GO, links.found);
        see(Sight.ACCEPT_FAILED, links.acceptFailed);
        see(Sight.COMPLETE_FAILED, links.completeFailed);
        see(Sight.WITHDRAWN, links.withdrawn);
        see(Sight.ABANDONED, links.abandoned);
    }

    static Map<Sight, Integer> sights() {
        return new EnumMap<>(Sight.class);
    }
}
