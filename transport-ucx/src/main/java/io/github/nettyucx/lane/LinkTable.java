// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.LinkReach;
import io.github.nettyucx.handshake.LinkRequest;
import io.github.nettyucx.handshake.Links;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.worker.IdleCollector;
import io.github.nettyucx.worker.WorkerPort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The links of one event loop: which there are to which peer, and who uses them.
 * <p>
 * A link has two halves, one on each side, and neither may be used once the other has been closed: a rendezvous names
 * its counterpart by number. So both sides say in each handshake which link they mean, by the random numbers of its two
 * halves. A half goes some time after its last user has, so that the next connection finds it; the two sides need not
 * do that at the same time.
 * <p>
 * UCX matches the two endpoints of a link by counting those that each side has made between the same two workers. So where
 * one side has made its half, and the other has not, one of the two workers makes no more links: from then on the two sides
 * would count differently. Over networks that is the client's, because the server's has links with others; over shared memory
 * each process has a worker of its own here, and it is the server's. A client's next attempt can be faster than the end of
 * the one that it has given up.
 */
final class LinkTable implements Links, IdleCollector {

    /** How long a link waits for its next user. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final class Peer {
        private final List<OwnHalf> halves = new ArrayList<>(1);
        /** Is being made by one handshake, while the others wait for it. Connecting side only. */
        private OwnHalf making;
        private final WaitingRequests waiting = new WaitingRequests();

        boolean isEmpty() {
            return halves.isEmpty() && making == null && waiting.isEmpty();
        }
    }

    private final Executor later;
    private final LongSupplier random;
    private final LongSupplier clock;
    private final Map<PeerKey, Peer> peers = new HashMap<>();
    /** Those that nobody uses; counted, because the loop asks each time before it sleeps. */
    private int idleHalves;
    /** How many wait for another's handshake, and for something to cross their link. */
    private int waiting;
    private int crossing;
    private final LinkFailures failures;
    private final LinkWorkers workers;

    /** @param later runs on the same thread, and not within the call */
    LinkTable(LinkFactory factory, Executor later, LongSupplier random, LongSupplier clock) {
        this.later = later;
        this.random = random;
        this.clock = clock;
        failures = new LinkFailures(clock);
        workers = new LinkWorkers(factory, failures);
    }

    /** Of a half: random, and not 0. */
    long newNumber() {
        long number;
        do {
            number = random.getAsLong();
        } while (number == 0);
        return number;
    }

    long now() {
        return clock.getAsLong();
    }

    /** @param change by how many halves more there are that nobody uses */
    void idle(int change) {
        idleHalves += change;
    }

    private Peer peer(PeerKey key) {
        return peers.computeIfAbsent(key, any -> new Peer());
    }

    /**
     * It is to be used no more.
     *
     * @param suspicion why the next link to its peer had better not be tried, or {@code null}
     */
    void closing(OwnHalf half, String suspicion) {
        PeerKey key = half.key();
        if (suspicion != null) {
            failures.link(key.lane(), key.peer().process(), suspicion);
        }
        Peer peer = peers.get(key);
        if (peer != null) {
            peer.halves.remove(half);
            removeIfEmpty(key, peer);
        }
    }

    /** Nobody waits any more for something to cross it. */
    void crossed() {
        crossing--;
    }

    private void removeIfEmpty(PeerKey key, Peer peer) {
        if (peer.isEmpty()) {
            peers.remove(key, peer);
        }
    }

    private OwnHalf usable(PeerKey key) {
        Peer peer = peers.get(key);
        if (peer != null) {
            for (OwnHalf half : peer.halves) {
                if (half.isUsable()) {
                    return half;
                }
            }
        }
        return null;
    }

    // ------------------------------------------------------------------------------------------- serving side

    @Override
    public LinkHalf held(LaneKind lane, Party client) {
        OwnHalf half = usable(new PeerKey(lane, true, client));
        return half == null ? null : half.pinned();
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client, long own, long theirs) {
        Peer peer = peers.get(new PeerKey(lane, true, client));
        if (peer != null) {
            for (OwnHalf half : peer.halves) {
                if (half.number() == own && half.theirs() == theirs) {
                    // Who names both numbers has made the other half.
                    half.confirm();
                    return half.isUsable() ? half.pinned() : null;
                }
            }
        }
        return null;
    }

    @Override
    public LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] peerAddress) throws LinkException {
        failures.check(lane, client.process());
        workers.checkAddress(lane, peerAddress);
        PeerKey key = new PeerKey(lane, true, client);
        Peer known = peers.get(key);
        if (known != null) {
            // The client makes a new one because it does not have its halves of these any more.
            List.copyOf(known.halves).forEach(OwnHalf::outdate);
        }
        OwnHalf half = null;
        WorkerPort worker = workers.get(lane, true, client.process());
        try {
            half = new OwnHalf(this, key, worker, workers.address(lane, worker));
            workers.checkAddress(lane, peerAddress);
            half.join(theirs, worker.connect(peerAddress));
        } catch (LinkException e) {
            // UCX has not seen the address, and goes on to count as the other peers of this worker do.
            half.close();
            throw e;
        } catch (IOException | RuntimeException e) {
            worker.retire();
            if (half != null) {
                half.close();
            }
            throw failures.link(lane, client.process(), e);
        } catch (OutOfMemoryError e) {
            worker.retire();
            if (half != null) {
                half.close();
            }
            throw e;
        }
        peer(key).halves.add(half);
        return half;
    }

    @Override
    public void confirm(LinkHalf half) {
        ((OwnHalf) half).confirm();
    }

    // ------------------------------------------------------------------------------------------- connecting side

    @Override
    public LinkHalf match(LaneKind lane, Party server, long theirs) {
        Peer peer = peers.get(new PeerKey(lane, false, server));
        if (peer != null) {
            for (OwnHalf half : peer.halves) {
                if (half.theirs() == theirs && half.isUsable()) {
                    return half.pinned();
                }
            }
        }
        return null;
    }

    @Override
    public void request(LaneKind lane, Party server, LinkRequest request) {
        PeerKey key = new PeerKey(lane, false, server);
        Peer peer = peer(key);
        if (usable(key) == null && (peer.making != null || !peer.waiting.isEmpty())) {
            peer.waiting.add(request, clock.getAsLong());
            waiting++;
        } else {
            answer(key, peer, request);
        }
    }

    private void answer(PeerKey key, Peer peer, LinkRequest request) {
        OwnHalf half = usable(key);
        if (half != null) {
            request.reuse(half.pinned(), half.theirs());
            return;
        }
        try {
            failures.check(key.lane(), key.peer().process());
            WorkerPort worker = workers.get(key.lane(), false, key.peer().process());
            peer.making = new OwnHalf(this, key, worker, workers.address(key.lane(), worker));
        } catch (LinkException | IOException | RuntimeException e) {
            LinkException failure = e instanceof LinkException known ? known
                    : failures.link(key.lane(), key.peer().process(), e);
            removeIfEmpty(key, peer);
            request.unavailable(failure.getMessage());
            return;
        } catch (OutOfMemoryError e) {
            // It may be one that has waited: nobody else answers it.
            removeIfEmpty(key, peer);
            request.unavailable("there is no memory for a link");
            return;
        }
        request.make(peer.making);
    }

    @Override
    public LinkHalf complete(LinkHalf offered, long theirs, byte[] peerAddress) throws LinkException {
        OwnHalf half = (OwnHalf) offered;
        PeerKey key = half.key();
        try {
            workers.checkAddress(key.lane(), peerAddress);
            half.join(theirs, half.worker().connect(peerAddress));
        } catch (LinkException | IOException | RuntimeException e) {
            giveUp(half);
            throw failures.link(key.lane(), key.peer().process(), e);
        } catch (OutOfMemoryError e) {
            giveUp(half);
            throw e;
        }
        peer(key).halves.add(half);
        if (!half.isReaching()) {
            made(half);
        }
        return half;
    }

    /** The server has made its half, and this side has not. */
    private void giveUp(OwnHalf half) {
        made(half);
        half.worker().retire();
        half.close();
    }

    @Override
    public void reach(LinkHalf completed, LinkReach asking) {
        OwnHalf half = (OwnHalf) completed;
        if (!half.isReaching()) {
            asking.reached();
            return;
        }
        crossing++;
        half.reach(new Crossing(half.endpoint(), asking, clock, later, reason -> tried(half, reason, asking)));
    }

    /** @param reason why nothing crosses it, or {@code null} if something has */
    private void tried(OwnHalf half, String reason, LinkReach asking) {
        half.tried(reason == null);
        if (reason == null) {
            asking.reached();
        } else {
            if (asking.hasOther()) {
                failures.link(half.key().lane(), half.key().peer().process(), reason);
            }
            asking.unreachable(reason);
        }
    }

    @Override
    public void abandon(LinkHalf offered, boolean told) {
        OwnHalf half = (OwnHalf) offered;
        made(half);
        if (told && half.key().lane() != LaneKind.SHM) {
            // The server's half may look for this one. UCX makes an endpoint for it then, which stays as long as the worker.
            half.worker().retire();
        }
        half.close();
    }

    /** It is not being made any more: those that have waited use it, or one of them makes the next attempt. */
    void made(OwnHalf half) {
        Peer peer = peers.get(half.key());
        if (peer != null && peer.making == half) {
            peer.making = null;
            if (!peer.waiting.isEmpty()) {
                later.execute(() -> goOn(half.key()));
            }
        }
    }

    /** Each of them in a piece of work of its own: it may come to tell the application, which may close any other. */
    private void goOn(PeerKey key) {
        Peer peer = peers.get(key);
        LinkRequest next = peer == null || peer.making != null ? null : peer.waiting.poll();
        if (next != null) {
            waiting--;
            if (!peer.waiting.isEmpty()) {
                later.execute(() -> goOn(key));
            }
            answer(key, peer, next);
        }
    }

    @Override
    public void stale(LinkHalf half) {
        ((OwnHalf) half).goStale();
        half.release();
    }

    @Override
    public void withdraw(LinkRequest request) {
        for (Iterator<Map.Entry<PeerKey, Peer>> all = peers.entrySet().iterator(); all.hasNext();) {
            Peer peer = all.next().getValue();
            if (peer.waiting.remove(request)) {
                waiting--;
                if (peer.isEmpty()) {
                    all.remove();
                }
                return;
            }
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    @Override
    public void collect(long now) {
        for (Map.Entry<PeerKey, Peer> entry : List.copyOf(peers.entrySet())) {
            Peer peer = entry.getValue();
            for (OwnHalf half : List.copyOf(peer.halves)) {
                half.collect(now);
            }
            for (LinkRequest request : peer.waiting.impatient(now)) {
                later.execute(() -> endWaiting(entry.getKey(), peer, request));
            }
        }
        failures.collect(now);
    }

    private void endWaiting(PeerKey key, Peer peer, LinkRequest request) {
        if (peer.waiting.remove(request)) {
            waiting--;
            removeIfEmpty(key, peer);
            request.unavailable("another connection has not got on with making the link");
        }
    }

    @Override
    public boolean hasDue() {
        return waiting > 0 || crossing > 0;
    }

    @Override
    public boolean hasIdle() {
        return idleHalves > 0;
    }

    /** Closes all links. Nobody may use them any more. */
    void close() {
        for (Peer peer : List.copyOf(peers.values())) {
            List.copyOf(peer.halves).forEach(OwnHalf::close);
        }
        peers.clear();
        failures.clear();
    }

    /** Of how many peers something is known. */
    int peers() {
        return peers.size();
    }

    /** How many halves of links there are. */
    int size() {
        int size = 0;
        for (Peer peer : peers.values()) {
            size += peer.halves.size();
        }
        return size;
    }
}
