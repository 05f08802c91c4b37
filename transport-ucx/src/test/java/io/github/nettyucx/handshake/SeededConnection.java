// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.util.Random;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** One connection of {@link SeededWorld}: two ends, and two directions of a wire that may damage what it carries. */
final class SeededConnection {

    /** Of the application, after the handshake, on lane socket. */
    private static final int STREAM = 40;

    /** One side: what a channel would do. */
    final class End implements Handshake.Owner {
        final boolean isClient;
        final Terms terms;
        final Damage damage;
        /** On its way to the other side, as the wire has left it. */
        private final ByteBuf wire = Unpooled.buffer();
        private final ByteBuf in = Unpooled.buffer();
        Handshake handshake;
        Outcome outcome;
        HandshakeException failure;
        /** It gave up by itself. */
        boolean closed;
        /** Nothing more comes from it. */
        private boolean ended;
        private boolean cut;
        private int said;
        private int goAt = -1;
        private boolean released;

        private End(boolean isClient, Terms terms, Damage damage) {
            this.isClient = isClient;
            this.terms = terms;
            this.damage = damage;
        }

        @Override
        public void send(ByteBuf frame) {
            assertFalse(closed || outcome != null || failure != null, "it is over");
            byte[] bytes = HandshakeFixture.bytes(frame);
            if (bytes[0] == FrameType.GO.number()) {
                goAt = said;
            }
            say(bytes);
            if (random.nextInt(500) == 0) {
                // Also with a REFUSE, of which it has not been told yet.
                closed = true;
                close();
            }
        }

        private void say(byte[] bytes) {
            if (!cut) {
                cut = !damage.pass(bytes, said, wire);
                ended |= cut;
            }
            said += bytes.length;
        }

        @Override
        public void opened(Outcome result) {
            assertFalse(closed || outcome != null || failure != null, "it is over");
            assertTrue(handshake.isOver());
            outcome = result;
            assertEquals(result.lane() == LaneKind.SOCKET, result.link() == null);
            if (result.lane() == LaneKind.SOCKET) {
                say(stream());
            }
        }

        @Override
        public void failed(HandshakeException cause) {
            assertFalse(closed || outcome != null || failure != null, "it is over");
            assertTrue(handshake.isOver());
            assertTrue(cause.ofPeer() || cause.getCause() == null, () -> "thrown within: " + cause.getCause());
            failure = cause;
            ended = true;
        }

        private byte[] stream() {
            byte[] bytes = new byte[STREAM];
            new Random(seed + (isClient ? 1 : 2)).nextBytes(bytes);
            return bytes;
        }

        /** The application closes, at any time; or it takes too long. */
        void close() {
            closed |= !handshake.isOver();
            handshake.close();
            ended = true;
            if (outcome != null && outcome.link() != null && !released) {
                released = true;
                outcome.link().release();
            }
        }

        /** How many bytes it has said. */
        int said() {
            return said;
        }

        /** Whether {@link #take} would do anything. */
        boolean hasWork() {
            End from = other(this);
            return from.wire.isReadable() || from.ended && !handshake.isOver();
        }

        /** Takes a part of what is on its way, or notices the end of it. */
        void take() {
            End from = other(this);
            if (!from.wire.isReadable()) {
                close();
                return;
            }
            int length = Math.min(from.wire.readableBytes(), switch (random.nextInt(4)) {
                case 0 -> 1;
                case 1 -> 1 + random.nextInt(40);
                case 2 -> 1 + random.nextInt(4_000);
                default -> Integer.MAX_VALUE;
            });
            // As much as a channel reads at a time.
            in.discardReadBytes().writeBytes(from.wire, Math.min(length, 2_000));
            handshake.received(in);
            if (!handshake.isOver()) {
                assertTrue(in.readableBytes() < Handshake.MAX_BUFFERED, "it has others keep too much");
            }
        }
    }

    final End client;
    final End server;
    private final Random random;
    private final long seed;
    private boolean started;

    SeededConnection(Random random, Terms clientTerms, Terms serverTerms, Links clientLinks, Links serverLinks,
            boolean damaged) {
        this.random = random;
        this.seed = random.nextLong();
        boolean fromClient = random.nextBoolean();
        boolean both = random.nextInt(10) == 0;
        client = new End(true, clientTerms, damaged && (fromClient || both) ? Damage.any(random, true) : Damage.none());
        server = new End(false, serverTerms,
                damaged && (!fromClient || both) ? Damage.any(random, false) : Damage.none());
        client.handshake = new ClientHandshake(clientTerms, clientLinks, client, random::nextBytes);
        Supplier<Terms> supplier = () -> serverTerms;
        server.handshake = new ServerHandshake(supplier, serverLinks, server, random::nextBytes);
    }

    void start() {
        started = true;
        ((ClientHandshake) client.handshake).start();
    }

    boolean isStarted() {
        return started;
    }

    private End other(End end) {
        return end == client ? server : client;
    }

    boolean isOver() {
        return client.handshake.isOver() && server.handshake.isOver();
    }

    boolean isDamaged() {
        return client.damage.happened || server.damage.happened;
    }

    /** Somebody has closed before the handshake was over. */
    boolean isClosed() {
        return client.closed || server.closed;
    }

    boolean isOpen() {
        return client.outcome != null && server.outcome != null;
    }

    /** @param linksFail whether links of this world are lost now and then */
    void check(boolean linksFail) {
        if (server.outcome != null && !client.closed) {
            assertNotNull(client.outcome, "only the server is open");
        }
        if (isOpen()) {
            assertEquals(client.outcome.lane(), server.outcome.lane());
            if (client.outcome.lane() != LaneKind.SOCKET) {
                checkHalves();
            } else if (!isDamaged()) {
                checkStream(client);
                checkStream(server);
            }
        }
        checkProofs();
        if (isDamaged() || isClosed()) {
            return;
        }
        if (client.outcome == null) {
            assertNull(server.outcome);
            assertNotNull(client.failure, "neither open nor failed");
            assertNotNull(server.failure, "neither open nor failed");
            assertEquals(client.failure.reason(), server.failure.reason());
            assertTrue(client.failure.ofPeer() != server.failure.ofPeer(), "one has refused the other");
        } else if (server.outcome == null) {
            assertTrue(linksFail, () -> "only the client is open: " + server.failure);
            assertEquals(HandshakeFailure.CONNECT_FAILED, server.failure.reason());
        }
    }

    private void checkHalves() {
        FakeLinks.Half mine = ((FakeLinks.Pin) client.outcome.link()).half;
        FakeLinks.Half theirs = ((FakeLinks.Pin) server.outcome.link()).half;
        assertEquals(mine.number, theirs.theirs);
        assertEquals(theirs.number, mine.theirs);
        assertEquals(mine.lane, client.outcome.lane());
        assertEquals(theirs.lane, client.outcome.lane());
        assertTrue(mine.confirmed && theirs.confirmed);
    }

    /** What follows the handshake is the other's stream, and all of it. */
    private void checkStream(End end) {
        End from = other(end);
        ByteBuf all = Unpooled.wrappedBuffer(end.in.slice(), from.wire.slice());
        assertEquals(Unpooled.wrappedBuffer(from.stream()), all);
    }

    /** Nobody opens on a proof that has been changed, nor, with a secret, on anything else that it covers. */
    private void checkProofs() {
        boolean secret = client.terms.secret() != null;
        if (server.damage.isWithin(secret ? 0 : Answer.COVERED, Answer.LENGTH)) {
            assertNull(client.outcome, "the client opened on a damaged ANSWER");
        }
        if (secret && client.damage.isWithin(0, Hello.LENGTH)) {
            assertNull(client.outcome, "the client opened though the server has seen another HELLO");
            assertNull(server.outcome, "the server opened on a damaged HELLO");
        }
        if (client.goAt >= 0 && client.damage.isWithin(client.goAt + 4, client.goAt + 36)) {
            assertNull(server.outcome, "the server opened on a damaged proof in GO");
        }
        int offer = Hello.LENGTH;
        if (client.goAt > offer && client.damage.isWithin(offer + 4, offer + 36)) {
            assertNull(server.outcome, "the server opened on a damaged proof in OFFER");
        }
    }
}
