// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Consumer;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/** The connecting side: HELLO, then GO when it has a link, or what it takes to get one before. */
public final class ClientHandshake extends Handshake {

    /** How often it asks for a link of one lane, if the server does not have the one that it gets. */
    static final int MAX_REQUESTS = 3;

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
    private List<String> reasons;
    private int requests;

    // What has to be given back; one of them at most.
    private Request request;
    private LinkHalf offered;
    private LinkHalf link;

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

    /** Whether the server has answered as one of this transport, and the two agree so far. */
    public boolean isAnswered() {
        return state == State.AWAITING_LINK || state == State.AWAITING_HALF;
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
        state = State.OVER;
        if (request != null) {
            Request unanswered = request;
            request = null;
            links.withdraw(unanswered);
        }
        if (offered != null) {
            LinkHalf half = offered;
            offered = null;
            links.abandon(half);
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
            case AWAITING_LINK, AWAITING_HALF -> readFrame(in);
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
            LinkHalf mine = offered;
            offered = null;
            try {
                link = links.complete(mine, half.server(), half.address());
            } catch (LinkException e) {
                turnFromLane(e.getMessage());
                return;
            }
        }
        go(half.server());
    }

    private void abandon() {
        LinkHalf half = offered;
        offered = null;
        links.abandon(half);
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
        lane = remaining();
        if (lane == LaneKind.SOCKET) {
            go(0);
        } else {
            requests = 0;
            request();
        }
    }

    private LaneKind remaining() throws HandshakeException {
        for (LaneKind kind : terms.lanes().kinds()) {
            if (!failed.contains(kind) && LaneChoice.obstacle(kind, terms, server, Side.SERVER) == null) {
                return kind;
            }
        }
        throw new HandshakeException(HandshakeFailure.NO_COMMON_LANE, "there is no lane: "
                + String.join("; ", reasons) + "; socket: not allowed by both sides");
    }

    /** @param theirs number of the server's half of the link; on the socket 0 */
    private void go(long theirs) {
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

    /** One question for a link. Only the last one is listened to. */
    private final class Request implements LinkRequest {

        @Override
        public void make(LinkHalf half) {
            if (request != this) {
                links.abandon(half);
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
}
