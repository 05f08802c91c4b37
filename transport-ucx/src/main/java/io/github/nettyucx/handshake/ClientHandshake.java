// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/** The connecting side: HELLO, then GO when it has a link, or what it takes to get one before. */
public final class ClientHandshake extends Handshake {

    /** How often it asks for a link of one lane, if the server does not have the one that it gets. */
    static final int MAX_REQUESTS = 3;

    /** If there is another lane to take: how long a link may take to be made by another handshake, and for bytes to cross. */
    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
    static final long REACH_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** If there is none. A server waits no longer than 10 s, if it is not told otherwise, and then nobody would be told why. */
    static final long LAST_REACH_NANOS = TimeUnit.SECONDS.toNanos(8);
    /** How much is to be left when a wait ends: to be sure of it, and for the next lane. Half of what there was, if that is less. */
    static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(600);

    private static final Set<FrameType> REFUSE_ONLY = EnumSet.of(FrameType.REFUSE);
    private static final Set<FrameType> HALF_OR_REFUSE = EnumSet.of(FrameType.HALF, FrameType.REFUSE);

    private enum State {
        /** Nothing was said. */
        NEW,
        /** HELLO is out. */
        AWAITING_ANSWER,
        /** This side's links are asked for one. */
        AWAITING_LINK,
        /** OFFER is out. */
        AWAITING_HALF,
        /** Both sides have made the link, and bytes have to cross it. */
        AWAITING_REACH,
        OVER
    }

    private final Terms terms;
    private final Links links;
    private final Consumer<byte[]> random;

    private State state = State.NEW;
    private byte[] hello;
    private byte[] nonce;
    private Hello server;
    private Proofs proofs;
    /** What the server chose. */
    private LaneKind chosen;
    /** What is asked for: that, or another if that cannot be had. */
    private LaneKind lane;
    /** Those that could not be had. */
    private final Set<LaneKind> failed = EnumSet.noneOf(LaneKind.class);
    /** Why not the lane that the server chose, nor those that were asked for behind it. */
    private String instead = "";
    /** Since the server's answer, which is good. */
    private List<String> reasons;
    private int requests;

    // What has to be given back; one of them at most.
    private Request request;
    private LinkHalf offered;
    private LinkHalf link;
    /** Of the link, while the answer is awaited. */
    private Reach reach;

    /** What was said in OFFER, while the answer is awaited. */
    private Offer offer;

    /** @param random fills an array with random bytes that nobody can guess */
    public ClientHandshake(Terms terms, Links links, Owner owner, Consumer<byte[]> random) {
        super(Side.CLIENT, owner);
        this.links = links;
        this.terms = terms;
        this.random = random;
    }

    /** Sends HELLO. To be called once, when the socket is connected. */
    public void start() {
        if (state == State.OVER) {
            return;
        }
        if (state != State.NEW) {
            throw new IllegalStateException("started twice");
        }
        attempt(this::greet);
    }

    private void greet() {
        nonce = new byte[Hello.NONCE_LENGTH];
        random.accept(nonce);
        ByteBuf out = Unpooled.directBuffer(Hello.LENGTH, Hello.LENGTH);
        terms.hello(nonce).encode(out, Hello.LENGTH);
        hello = new byte[Hello.LENGTH];
        out.getBytes(0, hello);
        state = State.AWAITING_ANSWER;
        owner.send(out);
    }

    /** Whether the server has answered as one of this transport, and the two could agree. */
    public boolean isAnswered() {
        return reasons != null;
    }

    @Override
    public boolean isOver() {
        return state == State.OVER;
    }

    @Override
    boolean mayRefuse() {
        return true;
    }

    @Override
    void end() {
        boolean told = state == State.AWAITING_HALF;
        state = State.OVER;
        removeSign();
        reach = null;
        if (request != null) {
            Request unanswered = request;
            request = null;
            links.withdraw(unanswered);
        }
        if (offered != null) {
            LinkHalf half = offered;
            offered = null;
            links.abandon(half, told);
        }
        if (link != null) {
            LinkHalf half = link;
            link = null;
            half.release();
        }
    }

    @Override
    void read(ByteBuf in) throws HandshakeException {
        if (!in.isReadable()) {
            return;
        }
        switch (state) {
            case NEW -> throw violation("the server spoke before the client");
            case AWAITING_ANSWER -> readAnswer(in);
            case AWAITING_LINK, AWAITING_HALF, AWAITING_REACH -> readFrame(in);
            case OVER -> {
            }
        }
    }

    private void readAnswer(ByteBuf in) throws HandshakeException {
        if (FrameType.REFUSE.isNext(in)) {
            readFrame(in);
            return;
        }
        if (!Hello.isWhole(in, Side.SERVER, "ANSWER", Answer.LENGTH)) {
            return;
        }
        byte[] covered = new byte[Answer.COVERED];
        in.readBytes(covered);
        byte[] proof = new byte[Proofs.LENGTH];
        in.readBytes(proof);
        checkEnd(in);
        Answer answer = Answer.decode(Unpooled.wrappedBuffer(covered));
        server = answer.hello();
        Proofs.checkBothOrNone(terms.secret() != null, server.secret(), Side.SERVER);
        proofs = Proofs.of(terms.secret(), hello, covered, nonce, server.nonce());
        proofs.check(Side.SERVER, proof);
        chosen = answer.lane();
        lane = chosen;
        String obstacle = LaneChoice.obstacle(lane, terms, server, Side.SERVER);
        if (obstacle != null) {
            throw violation("the server chose lane " + lane + ", which the client cannot take: " + obstacle);
        }
        reasons = LaneChoice.reasons(lane, terms, server);
        if (lane == LaneKind.SOCKET) {
            go(0);
            return;
        }
        link = answer.link() == 0 ? null : links.match(lane, server.party(), answer.link());
        if (link != null) {
            go(answer.link());
        } else {
            request();
        }
    }

    /** The server speaks when it is spoken to, and what follows GO belongs to the application. */
    private static void checkEnd(ByteBuf in) throws HandshakeException {
        if (in.isReadable()) {
            throw violation("the server sent " + in.readableBytes() + " bytes more than it was asked for");
        }
    }

    private void readFrame(ByteBuf in) throws HandshakeException {
        FrameType type = FrameType.next(in, Side.SERVER, state == State.AWAITING_HALF ? HALF_OR_REFUSE : REFUSE_ONLY);
        if (type == FrameType.REFUSE) {
            throw withOwnReasons(refusal(in));
        }
        if (type == null) {
            return;
        }
        Half half = Half.decode(FrameType.read(in), offer);
        checkEnd(in);
        removeSign();
        switch (half.status()) {
            case OK -> answered(half);
            case STALE -> {
                LinkHalf stale = link;
                link = null;
                links.stale(stale);
                request();
            }
            case FAILED -> {
                abandon();
                turnFromLane(half.text());
            }
        }
    }

    /** The server knows only what it was not offered. */
    private HandshakeException withOwnReasons(HandshakeException refusal) {
        StringJoiner own = new StringJoiner("; ");
        for (LaneKind kind : terms.lanes().kinds()) {
            if (!kind.isIn(terms.offered()) && terms.unavailable().containsKey(kind)) {
                own.add(kind + ": " + terms.unavailable().get(kind));
            }
        }
        return refusal.reason() != HandshakeFailure.NO_COMMON_LANE || own.length() == 0 ? refusal
                : refusal.withMore("the client does not offer " + own);
    }

    private void answered(Half half) throws HandshakeException {
        if (offer.isNew()) {
            String distance = lane == LaneKind.SHM ? terms.distance(nonce, half.address(), Side.SERVER) : null;
            if (distance != null) {
                abandon();
                turnFromLane(distance);
                return;
            }
            LinkHalf mine = offered;
            offered = null;
            try {
                link = links.complete(mine, half.server(), half.address());
            } catch (LinkException e) {
                turnFromLane(e.getMessage());
                return;
            }
            reach(half.server());
        } else {
            go(half.server());
        }
    }

    private void reach(long theirs) {
        state = State.AWAITING_REACH;
        reach = new Reach(theirs);
        links.reach(link, reach);
    }

    /** The server has no half to this one. */
    private void abandon() {
        LinkHalf half = offered;
        offered = null;
        links.abandon(half, false);
    }

    private void request() throws HandshakeException {
        if (requests == MAX_REQUESTS) {
            turnFromLane("the server did not have the link any more, " + requests + " times");
            return;
        }
        requests++;
        state = State.AWAITING_LINK;
        request = new Request();
        links.request(lane, server.party(), request);
    }

    /** The lane cannot be had: takes the first one of this side's that is left. */
    private void turnFromLane(String reason) throws HandshakeException {
        reasons.add(lane + ": " + reason);
        instead = lane == chosen ? reason : instead + "; " + lane + ": " + reason;
        failed.add(lane);
        lane = other();
        if (lane == null) {
            throw new HandshakeException(HandshakeFailure.NO_COMMON_LANE, "there is no lane: "
                    + String.join("; ", reasons) + "; socket: not allowed by both sides");
        }
        if (lane == LaneKind.SOCKET) {
            go(0);
        } else {
            requests = 0;
            request();
        }
    }

    /** The first lane that is left beside the one that is asked for; or {@code null}. */
    private LaneKind other() {
        for (LaneKind kind : terms.lanes().kinds()) {
            if (kind != lane && !failed.contains(kind) && LaneChoice.obstacle(kind, terms, server, Side.SERVER) == null) {
                return kind;
            }
        }
        return null;
    }

    /** @param theirs number of the server's half of the link; on the socket 0 */
    private void go(long theirs) throws HandshakeException {
        if (owner.isEnded()) {
            // This side was late. Nobody would take GO, and the application would be told of a connection that is none.
            throw new HandshakeException(HandshakeFailure.CLOSED_BY_PEER,
                    "Connection closed by the peer during the handshake, before the client was ready");
        }
        LaneKind taken = lane;
        owner.send(new Go(proofs.client(), taken, link == null ? 0 : link.number(), theirs, instead).encode());
        if (state == State.OVER) {
            return;
        }
        state = State.OVER;
        LinkHalf half = link;
        link = null;
        owner.opened(new Outcome(taken, half, server, List.copyOf(reasons)));
    }

    private void offer(Offer next) {
        offer = next;
        state = State.AWAITING_HALF;
        owner.send(next.encode());
    }

    /** Of what is left when a wait begins. */
    private long rest() {
        return Math.min(REST_NANOS, owner.nanosLeft() / 2);
    }

    /** One question for a link. Only the last one is listened to. */
    private final class Request implements LinkRequest {
        private final long rest = rest();

        @Override
        public boolean isTooLong(long nanos) {
            return other() != null && (nanos >= PATIENCE_NANOS || owner.nanosLeft() < rest);
        }

        @Override
        public void make(LinkHalf half) {
            if (request != this) {
                links.abandon(half, false);
                return;
            }
            request = null;
            offered = half;
            attempt(() -> {
                byte[] address = half.address();
                if (address.length == 0 || address.length > FrameType.MAX_ADDRESS) {
                    abandon();
                    turnFromLane("the client's worker address has " + address.length + " bytes; expected 1 to "
                            + FrameType.MAX_ADDRESS);
                    return;
                }
                if (lane == LaneKind.SHM && !leaveSign(terms.nearness(), server.nonce(), address)) {
                    abandon();
                    turnFromLane("the client could not show that it is on this host");
                    return;
                }
                offer(new Offer(proofs.client(), lane, half.number(), 0, address));
            });
        }

        @Override
        public void reuse(LinkHalf half, long theirs) {
            if (request != this) {
                half.release();
                return;
            }
            request = null;
            link = half;
            attempt(() -> offer(new Offer(proofs.client(), lane, half.number(), theirs, null)));
        }

        @Override
        public void unavailable(String reason) {
            if (request != this) {
                return;
            }
            request = null;
            attempt(() -> turnFromLane(reason));
        }
    }

    /** Waits for bytes to cross the link. Only the last one is listened to. */
    private final class Reach implements LinkReach {
        private final long theirs;
        private final long rest = rest();

        Reach(long theirs) {
            this.theirs = theirs;
        }

        @Override
        public boolean isTooLong(long nanos) {
            return nanos >= (hasOther() ? REACH_NANOS : LAST_REACH_NANOS) || owner.nanosLeft() < rest;
        }

        @Override
        public boolean hasOther() {
            return other() != null;
        }

        @Override
        public void reached() {
            if (reach == this) {
                reach = null;
                attempt(() -> go(theirs));
            }
        }

        @Override
        public void unreachable(String reason) {
            if (reach == this) {
                reach = null;
                LinkHalf half = link;
                link = null;
                half.release();
                attempt(() -> turnFromLane(reason));
            }
        }
    }
}
