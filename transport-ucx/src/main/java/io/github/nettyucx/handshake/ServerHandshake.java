// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import static io.github.nettyucx.handshake.HandshakeException.violation;

/** The accepting side: it chooses the lane, and takes part in making a link if the client asks for one. */
public final class ServerHandshake extends Handshake {

    /** So many first bytes tell what a client is. */
    public static final int DECISIVE = Hello.MAGIC_LENGTH;

    private static final Set<FrameType> OFFER_OR_GO = EnumSet.of(FrameType.OFFER, FrameType.GO, FrameType.REFUSE);
    private static final Set<FrameType> ONLY_GO = EnumSet.of(FrameType.GO, FrameType.REFUSE);

    /** What the first bytes of a connection are. */
    public enum Client {
        /** Too few to tell. */
        UNDECIDED,
        /** The beginning of a handshake. */
        UCX,
        /** Something else: an ordinary TCP client. */
        PLAIN
    }

    private enum State {
        AWAITING_HELLO,
        /** ANSWER is out, or a HALF. */
        AWAITING_OFFER_OR_GO,
        /** ANSWER for lane socket is out. */
        AWAITING_GO,
        OVER
    }

    private final Supplier<Terms> supplier;
    private final ServerLinks links;
    private final Consumer<byte[]> random;

    private State state = State.AWAITING_HELLO;
    /** A GO has come, or what looks like one: the client takes what it receives from now on for the stream. */
    private boolean gone;
    private Terms terms;
    private Hello client;
    private byte[] nonce;
    private Proofs proofs;
    /** In ANSWER. */
    private LaneKind chosen;
    /** That one, or what the client has offered a link of since. */
    private LaneKind lane;
    private List<String> reasons;
    /** Of the lane. */
    private int offers;
    /** The client has been told whether it can have them, or has turned from them. */
    private final Set<LaneKind> settled = EnumSet.noneOf(LaneKind.class);
    /** Pinned, or null. */
    private LinkHalf link;
    /** Number of its other half, or 0 if only {@link ServerLinks} know it. */
    private long theirs;

    /**
     * @param terms asked for once, when a valid HELLO has come
     * @param random fills an array with random bytes that nobody can guess
     */
    public ServerHandshake(Supplier<Terms> terms, ServerLinks links, Owner owner, Consumer<byte[]> random) {
        super(Side.SERVER, owner);
        this.links = links;
        this.supplier = terms;
        this.random = random;
    }

    /** What the first bytes of a connection say of the client. Reads nothing. */
    public static Client classify(ByteBuf first) {
        if (!Hello.hasMagic(first)) {
            return Client.PLAIN;
        }
        return first.readableBytes() < Hello.MAGIC_LENGTH ? Client.UNDECIDED : Client.UCX;
    }

    @Override
    public boolean isOver() {
        return state == State.OVER;
    }

    @Override
    boolean mayRefuse() {
        return !gone;
    }

    @Override
    void end() {
        state = State.OVER;
        dropLink();
    }

    private void dropLink() {
        LinkHalf half = link;
        link = null;
        theirs = 0;
        removeSign();
        if (half != null) {
            half.release();
        }
    }

    @Override
    void read(ByteBuf in) throws HandshakeException {
        boolean more = true;
        while (more && in.isReadable()) {
            more = switch (state) {
                case AWAITING_HELLO -> readHello(in);
                case AWAITING_OFFER_OR_GO -> readFrame(in, OFFER_OR_GO);
                case AWAITING_GO -> readFrame(in, ONLY_GO);
                case OVER -> false;
            };
        }
    }

    private boolean readHello(ByteBuf in) throws HandshakeException {
        if (!Hello.isWhole(in, Side.CLIENT, "HELLO", Hello.LENGTH)) {
            return false;
        }
        byte[] hello = new byte[Hello.LENGTH];
        in.readBytes(hello);
        client = Hello.decode(Unpooled.wrappedBuffer(hello), Side.CLIENT);
        terms = supplier.get();
        if (state == State.OVER) {
            return false;
        }
        Proofs.checkBothOrNone(terms.secret() != null, client.secret(), Side.CLIENT);
        LaneChoice choice = LaneChoice.of(terms, client);
        chosen = choice.lane();
        lane = chosen;
        reasons = new ArrayList<>(choice.reasons());
        if (lane == null) {
            throw new HandshakeException(HandshakeFailure.NO_COMMON_LANE, "there is no lane: "
                    + String.join("; ", reasons));
        }
        if (lane != LaneKind.SOCKET) {
            link = links.held(lane, client.party());
        }
        state = lane == LaneKind.SOCKET ? State.AWAITING_GO : State.AWAITING_OFFER_OR_GO;
        answer(hello);
        return true;
    }

    private void answer(byte[] hello) {
        nonce = new byte[Hello.NONCE_LENGTH];
        random.accept(nonce);
        ByteBuf out = Unpooled.directBuffer(Answer.LENGTH, Answer.LENGTH);
        new Answer(terms.hello(nonce), lane, link == null ? 0 : link.number()).encode(out);
        byte[] covered = new byte[Answer.COVERED];
        out.getBytes(0, covered);
        proofs = Proofs.of(terms.secret(), hello, covered, client.nonce(), nonce);
        owner.send(out.writeBytes(proofs.server()));
    }

    private boolean readFrame(ByteBuf in, Set<FrameType> allowed) throws HandshakeException {
        gone = FrameType.GO.isNext(in);
        FrameType type = FrameType.next(in, Side.CLIENT, allowed);
        if (type == null) {
            return false;
        }
        switch (type) {
            case OFFER -> offered(Offer.decode(FrameType.read(in)));
            case GO -> go(Go.decode(FrameType.read(in), chosen));
            default -> throw refusal(in);
        }
        return true;
    }

    private void offered(Offer offer) throws HandshakeException {
        proofs.check(Side.CLIENT, offer.proof());
        if (offer.lane() != lane) {
            turnTo(offer.lane());
        }
        if (settled.contains(lane)) {
            throw violation("the client's OFFER is of lane " + lane + ", which was settled before");
        }
        if (++offers > ClientHandshake.MAX_REQUESTS) {
            throw violation("the client sent OFFER " + offers + " times for one lane; expected "
                    + ClientHandshake.MAX_REQUESTS + " at most");
        }
        // The one that ANSWER named: the client does not have it.
        dropLink();
        owner.send((offer.isNew() ? accept(offer) : find(offer)).encode());
    }

    /** The client cannot have the lane so far, and asks for another. */
    private void turnTo(LaneKind next) throws HandshakeException {
        String obstacle = LaneChoice.obstacle(next, terms, client, Side.CLIENT);
        if (obstacle != null) {
            throw violation("the client's OFFER is of lane " + next + ", which the server cannot take: " + obstacle);
        }
        settled.add(lane);
        lane = next;
        offers = 0;
    }

    private Half accept(Offer offer) {
        settled.add(lane);
        // Before anything of UCX is touched: it attaches what the address names.
        String distance = lane == LaneKind.SHM ? terms.distance(nonce, offer.address(), Side.CLIENT) : null;
        if (distance != null) {
            return Half.failed(distance);
        }
        try {
            link = links.accept(lane, client.party(), offer.client(), offer.address());
        } catch (LinkException e) {
            return Half.failed(e.getMessage());
        }
        theirs = offer.client();
        byte[] address = link.address();
        if (address.length == 0 || address.length > FrameType.MAX_ADDRESS) {
            dropLink();
            return Half.failed("the server's worker address has " + address.length + " bytes; expected 1 to "
                    + FrameType.MAX_ADDRESS);
        }
        if (lane == LaneKind.SHM && !leaveSign(terms.nearness(), client.nonce(), address)) {
            dropLink();
            return Half.failed("the server could not show that it is on this host");
        }
        return Half.ok(link.number(), address);
    }

    private Half find(Offer offer) {
        link = links.held(lane, client.party(), offer.server(), offer.client());
        if (link == null) {
            return Half.stale();
        }
        theirs = offer.client();
        settled.add(lane);
        return Half.ok(link.number(), null);
    }

    private void go(Go go) throws HandshakeException {
        proofs.check(Side.CLIENT, go.proof());
        if (go.lane() == LaneKind.SOCKET) {
            if (!LaneKind.SOCKET.isIn(terms.offered() & client.lanes())) {
                throw violation("the client's GO has lane " + go.lane() + ", which the server did not offer");
            }
            dropLink();
        } else if (go.lane() == lane) {
            checkLink(go);
            links.confirm(link);
        } else {
            throw violation("the client's GO has lane " + go.lane() + ", which was not agreed on");
        }
        if (go.lane() != chosen) {
            reasons.add(chosen + ": " + go.reason());
        }
        state = State.OVER;
        removeSign();
        LinkHalf half = link;
        link = null;
        owner.opened(new Outcome(go.lane(), half, client, List.copyOf(reasons)));
    }

    /**
     * Who knows both numbers is the one who has the other half: they are random, and with a shared secret they are said to nobody
     * else. Without one a client says them to who claims to be the server's process.
     */
    private void checkLink(Go go) throws HandshakeException {
        if (link == null || link.number() != go.server() || theirs != 0 && theirs != go.client()) {
            throw violation("the client's GO names a link that was not agreed on");
        }
        if (theirs == 0) {
            LinkHalf known = links.held(lane, client.party(), go.server(), go.client());
            if (known == null) {
                throw new HandshakeException(HandshakeFailure.CONNECT_FAILED,
                        "the server does not have the link that the client's GO names");
            }
            known.release();
        }
    }
}
