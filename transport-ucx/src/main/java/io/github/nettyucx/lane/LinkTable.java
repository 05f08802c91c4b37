// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.LinkHalf;
import io.github.nettyucx.handshake.LinkRequest;
import io.github.nettyucx.handshake.Links;
import io.github.nettyucx.handshake.Party;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.github.nettyucx.worker.IdleCollector;
import io.github.nettyucx.worker.LinkPort;
import io.github.nettyucx.worker.WorkerPort;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
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
 * UCX matches the two endpoints of a link by counting those that each side has made between the same two workers. So a
 * half that was made and is never confirmed, because the other side's was not made, ends the use of its worker for new
 * links: from then on the two sides would count differently. A client's next attempt can be faster than the end of the
 * one that it has given up.
 */
final class LinkTable implements Links, IdleCollector {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LinkTable.class);

    /** How long a link waits for its next user. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How long it is not tried again to make links to a process, after it has failed. */
    static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Of so many processes it is known that links to them have failed. */
    static final int MAX_FAILURES = 256;

    private record FailureKey(LaneKind lane, ProcessIdentity process) {
    }

    private record Failure(String reason, long nanos) {
    }

    private static final class Peer {
        private final List<Half> halves = new ArrayList<>(1);
        /** Is being made by one handshake, while the others wait for it. Connecting side only. */
        private Half making;
        private final ArrayDeque<LinkRequest> waiting = new ArrayDeque<>(0);

        boolean isEmpty() {
            return halves.isEmpty() && making == null && waiting.isEmpty();
        }
    }

    /** This side of a link. */
    final class Half implements LinkHalf {

        private enum State {
            /** The connecting side's, without an endpoint: the peer has not told its address. */
            OFFERED,
            /** The serving side's: the peer has not told that it has made its half. */
            UNCONFIRMED,
            /** Both halves exist. */
            CONFIRMED,
            /** The other half is gone. */
            STALE,
            CLOSED
        }

        private final PeerKey key;
        private final WorkerPort worker;
        private final byte[] address;
        private final long number;
        private State state;
        private long theirs;
        private LinkPort endpoint;
        private int pins = 1;
        private long idleSinceNanos;

        Half(PeerKey key, WorkerPort worker, byte[] address, State state) {
            this.key = key;
            this.worker = worker;
            this.address = address;
            this.state = state;
            number = newNumber();
            worker.pin();
        }

        @Override
        public long number() {
            return number;
        }

        @Override
        public byte[] address() {
            return address.clone();
        }

        LinkPort endpoint() {
            return endpoint;
        }

        WorkerPort worker() {
            return worker;
        }

        /** Whether another connection may use it. */
        private boolean isUsable() {
            return state == State.CONFIRMED && endpoint.isOpen() && !worker.isRetired();
        }

        /**
         * Whether this number is the other half's, and the link is open: who uses it can go on to do so. That the other half
         * is gone is no more than a guess, and who names the number knows better.
         */
        boolean isWith(long number) {
            return theirs == number && endpoint.isOpen() && state != State.CLOSED;
        }

        Half pinned() {
            if (pins++ == 0) {
                idleHalves--;
            }
            return this;
        }

        /** @throws IllegalStateException if nobody holds it */
        @Override
        public void release() {
            if (pins == 0) {
                throw new IllegalStateException("released more often than pinned: " + this);
            }
            if (--pins == 0) {
                idleSinceNanos = clock.getAsLong();
                if (state != State.CLOSED) {
                    idleHalves++;
                }
                if (state == State.UNCONFIRMED) {
                    worker.retire();
                    close();
                } else if (!isUsable()) {
                    close();
                }
            }
        }

        private void close() {
            if (state != State.CLOSED) {
                state = State.CLOSED;
                if (pins == 0) {
                    idleHalves--;
                }
                remove(this);
                if (endpoint != null) {
                    endpoint.close();
                }
                worker.unpin();
            }
        }

        @Override
        public String toString() {
            return key.lane() + " link " + Long.toHexString(number) + " (" + state + ')';
        }
    }

    private final LinkFactory factory;
    private final Executor later;
    private final LongSupplier random;
    private final LongSupplier clock;
    private final Map<PeerKey, Peer> peers = new HashMap<>();
    /** Those that nobody uses; counted, because the loop asks each time before it sleeps. */
    private int idleHalves;
    private final Map<FailureKey, Failure> failures = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        /** Processes are what strangers say that they are: there can be any number of them. */
        @Override
        protected boolean removeEldestEntry(Map.Entry<FailureKey, Failure> eldest) {
            return size() > MAX_FAILURES;
        }
    };

    /** @param later runs on the same thread, and not within the call */
    LinkTable(LinkFactory factory, Executor later, LongSupplier random, LongSupplier clock) {
        this.factory = factory;
        this.later = later;
        this.random = random;
        this.clock = clock;
    }

    private long newNumber() {
        long number;
        do {
            number = random.getAsLong();
        } while (number == 0);
        return number;
    }

    private Peer peer(PeerKey key) {
        return peers.computeIfAbsent(key, any -> new Peer());
    }

    private void remove(Half half) {
        Peer peer = peers.get(half.key);
        if (peer != null) {
            peer.halves.remove(half);
            removeIfEmpty(half.key, peer);
        }
    }

    private void removeIfEmpty(PeerKey key, Peer peer) {
        if (peer.isEmpty()) {
            peers.remove(key, peer);
        }
    }

    private Half usable(PeerKey key) {
        Peer peer = peers.get(key);
        if (peer != null) {
            for (Half half : peer.halves) {
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
        Half half = usable(new PeerKey(lane, true, client));
        return half == null ? null : half.pinned();
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client, long own, long theirs) {
        Peer peer = peers.get(new PeerKey(lane, true, client));
        if (peer != null) {
            for (Half half : peer.halves) {
                if (half.number == own && half.theirs == theirs) {
                    // Who names both numbers has made the other half.
                    confirm(half);
                    return half.isUsable() ? half.pinned() : null;
                }
            }
        }
        return null;
    }

    @Override
    public LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] peerAddress) throws LinkException {
        checkFailure(lane, client.process());
        PeerKey key = new PeerKey(lane, true, client);
        Peer known = peers.get(key);
        if (known != null) {
            // The client makes a new one because it does not have its halves of these any more.
            List.copyOf(known.halves).forEach(this::outdate);
        }
        Half half = null;
        WorkerPort worker = factory.worker(lane, true, client.process());
        try {
            half = new Half(key, worker, worker.address(), Half.State.UNCONFIRMED);
            half.theirs = theirs;
            checkKind(half.address, peerAddress);
            half.endpoint = worker.connect(peerAddress);
        } catch (IOException | RuntimeException e) {
            worker.retire();
            if (half != null) {
                half.close();
            }
            throw failed(lane, client.process(), e);
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
        Half own = (Half) half;
        if (own.state == Half.State.UNCONFIRMED) {
            own.state = Half.State.CONFIRMED;
        }
    }

    // ------------------------------------------------------------------------------------------- connecting side

    @Override
    public LinkHalf match(LaneKind lane, Party server, long theirs) {
        Peer peer = peers.get(new PeerKey(lane, false, server));
        if (peer != null) {
            for (Half half : peer.halves) {
                if (half.theirs == theirs && half.isUsable()) {
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
            peer.waiting.add(request);
        } else {
            answer(key, peer, request);
        }
    }

    private void answer(PeerKey key, Peer peer, LinkRequest request) {
        Half half = usable(key);
        if (half != null) {
            request.reuse(half.pinned(), half.theirs);
            return;
        }
        try {
            checkFailure(key.lane(), key.peer().process());
            WorkerPort worker = factory.worker(key.lane(), false, key.peer().process());
            peer.making = new Half(key, worker, worker.address(), Half.State.OFFERED);
        } catch (LinkException | IOException | RuntimeException e) {
            LinkException failure = e instanceof LinkException known ? known : failed(key.lane(), key.peer().process(), e);
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
        Half half = made(offered);
        try {
            checkKind(half.address, peerAddress);
            half.endpoint = half.worker.connect(peerAddress);
        } catch (IOException | RuntimeException e) {
            half.worker.retire();
            half.close();
            throw failed(half.key.lane(), half.key.peer().process(), e);
        } catch (OutOfMemoryError e) {
            half.worker.retire();
            half.close();
            throw e;
        }
        half.theirs = theirs;
        half.state = Half.State.CONFIRMED;
        peer(half.key).halves.add(half);
        return half;
    }

    @Override
    public void abandon(LinkHalf offered) {
        made(offered).close();
    }

    /** It is not being made any more: those that have waited use it, or one of them makes the next attempt. */
    private Half made(LinkHalf offered) {
        Half half = (Half) offered;
        Peer peer = peers.get(half.key);
        if (peer != null && peer.making == half) {
            peer.making = null;
            if (!peer.waiting.isEmpty()) {
                later.execute(() -> goOn(half.key));
            }
        }
        return half;
    }

    /** Each of them in a piece of work of its own: it may come to tell the application, which may close any other. */
    private void goOn(PeerKey key) {
        Peer peer = peers.get(key);
        LinkRequest next = peer == null || peer.making != null ? null : peer.waiting.poll();
        if (next != null) {
            if (!peer.waiting.isEmpty()) {
                later.execute(() -> goOn(key));
            }
            answer(key, peer, next);
        }
    }

    @Override
    public void stale(LinkHalf half) {
        Half own = (Half) half;
        if (own.state == Half.State.CONFIRMED) {
            own.state = Half.State.STALE;
        }
        own.release();
    }

    /**
     * UCX ends the process if the first byte of an address is not what the same release makes for the same kind of
     * worker; nothing else that was tried with damaged addresses does, but what only a peer on purpose would send.
     */
    private static void checkKind(byte[] own, byte[] theirs) throws IOException {
        if (own.length > 0 && (theirs.length == 0 || theirs[0] != own[0])) {
            throw new IOException("the peer's worker address is of another kind than this side's");
        }
    }

    private void outdate(Half half) {
        if (half.state == Half.State.CONFIRMED) {
            half.state = Half.State.STALE;
        } else if (half.state == Half.State.UNCONFIRMED) {
            // The client has given it up, and perhaps not made its own.
            half.worker.retire();
        }
        if (half.pins == 0) {
            half.close();
        }
    }

    @Override
    public void withdraw(LinkRequest request) {
        for (Iterator<Map.Entry<PeerKey, Peer>> all = peers.entrySet().iterator(); all.hasNext();) {
            Peer peer = all.next().getValue();
            if (peer.waiting.remove(request)) {
                if (peer.isEmpty()) {
                    all.remove();
                }
                return;
            }
        }
    }

    // ------------------------------------------------------------------------------------------- failures

    private void checkFailure(LaneKind lane, ProcessIdentity process) throws LinkException {
        // In most processes none ever fails, and the keys' hash codes need not be.
        Failure failure = failures.isEmpty() ? null : failures.get(new FailureKey(lane, process));
        if (failure != null) {
            if (clock.getAsLong() - failure.nanos < RETRY_NANOS) {
                throw new LinkException(failure.reason);
            }
            failures.remove(new FailureKey(lane, process));
        }
    }

    private LinkException failed(LaneKind lane, ProcessIdentity process, Exception cause) {
        logger.debug("No link of lane {} to process {}", lane, Long.toHexString(process.process()), cause);
        String reason = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        failures.put(new FailureKey(lane, process), new Failure(reason, clock.getAsLong()));
        return new LinkException(reason);
    }

    // ------------------------------------------------------------------------------------------- the end

    @Override
    public void collect(long now) {
        for (Peer peer : List.copyOf(peers.values())) {
            for (Half half : List.copyOf(peer.halves)) {
                if (half.pins == 0 && (now - half.idleSinceNanos >= IDLE_NANOS || !half.isUsable())) {
                    half.close();
                }
            }
        }
        failures.values().removeIf(failure -> now - failure.nanos >= RETRY_NANOS);
    }

    @Override
    public boolean hasIdle() {
        return idleHalves > 0;
    }

    /** Closes all links. Nobody may use them any more. */
    void close() {
        for (Peer peer : List.copyOf(peers.values())) {
            List.copyOf(peer.halves).forEach(Half::close);
        }
        peers.clear();
        failures.clear();
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
