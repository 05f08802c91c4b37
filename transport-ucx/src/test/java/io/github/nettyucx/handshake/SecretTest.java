// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import static io.github.nettyucx.handshake.HandshakeFailure.NO_SECRET;
import static io.github.nettyucx.handshake.HandshakeFailure.WRONG_SECRET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Each side proves that it knows the secret, before it is told where the other's worker is. */
class SecretTest extends HandshakeFixture {

    private static final String WRONG =
            "'s proof is wrong: it has another shared secret, or what was said has been changed on its way";

    @BeforeEach
    void bothHaveIt() {
        clientTerms.secret(SECRET);
        serverTerms.secret(SECRET);
    }

    @Test
    void opensWithTheSameSecret() {
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "OFFER", "HALF", "GO"), said);
        assertOpen(LaneKind.SHM);
    }

    /** As another implementation computes them. */
    @Test
    void coversHelloAndAnswer() throws Exception {
        start();
        talk();
        byte[] hello = toServer.sent.getFirst();
        byte[] answer = toClient.sent.getFirst();
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(ascii(SECRET), "HmacSHA256"));
        mac.update(ascii("netty-ucx/2 server"));
        mac.update(hello);
        mac.update(answer, 0, 272);
        assertEquals(hex(mac.doFinal()), hex(part(answer, 272, 32)));
        mac.update(ascii("netty-ucx/2 client"));
        mac.update(hello);
        mac.update(answer, 0, 272);
        String proof = hex(mac.doFinal());
        assertEquals(proof, hex(part(toServer.sent.get(1), 4, 32)), "OFFER");
        assertEquals(proof, hex(part(toServer.sent.get(2), 4, 32)), "GO");
    }

    @Test
    void provesWithTheOthersNonceIfThereIsNoSecret() {
        clientTerms.secret(null);
        serverTerms.secret(null);
        start();
        talk();
        byte[] hello = toServer.sent.getFirst();
        byte[] answer = toClient.sent.getFirst();
        assertEquals(hex(part(hello, 80, 32)), hex(part(answer, 272, 32)));
        assertEquals(hex(part(answer, 80, 32)), hex(part(toServer.sent.get(1), 4, 32)));
        assertEquals(hex(part(answer, 80, 32)), hex(part(toServer.sent.get(2), 4, 32)));
        assertFalse(Arrays.equals(part(hello, 80, 32), part(answer, 80, 32)));
    }

    @Test
    void refusesAServerWithAnotherSecret() {
        serverTerms.secret("another one of enough bytes");
        start();
        talk();
        assertEquals(List.of("HELLO", "ANSWER", "REFUSE"), said);
        assertRefused(toServer, WRONG_SECRET, "the server" + WRONG);
        assertNoAddressWasSaid();
    }

    /** It answers as the server would have it, but cannot prove anything. */
    @Test
    void refusesAClientWithAnotherSecret() {
        start();
        talkUntil("OFFER");
        byte[] offer = toServer.sent.getLast();
        byte[] forged = SharedSecret.of(ascii("another one of enough bytes")).proof("netty-ucx/2 client",
                toServer.sent.getFirst(), part(toClient.sent.getFirst(), 0, 272));
        System.arraycopy(forged, 0, offer, 4, 32);
        talk();
        assertRefused(toClient, WRONG_SECRET, "the client" + WRONG);
        assertEquals(0, serverLinks.halves.size());
        assertFalse(isSaid(toClient.sent, TestTerms.SERVER), "the server's worker address");
    }

    @Test
    void refusesAServerWithoutASecret() {
        serverTerms.secret(null);
        start();
        talk();
        assertEquals(List.of("HELLO", "REFUSE"), said);
        assertRefused(toClient, NO_SECRET, "the server has no shared secret, the client has one: set the same on both"
                + " sides, by UcxChannelOption.SHARED_SECRET or -Dio.github.nettyucx.secretFile");
    }

    @Test
    void refusesAClientWithoutASecret() {
        clientTerms.secret(null);
        start();
        talk();
        assertEquals(List.of("HELLO", "REFUSE"), said);
        assertRefused(toClient, NO_SECRET, "the client has no shared secret, the server has one: set the same on both"
                + " sides, by UcxChannelOption.SHARED_SECRET or -Dio.github.nettyucx.secretFile");
    }

    /** It looks for a client that does without, for once. */
    @Test
    void refusesAServerThatPretendsToHaveNone() {
        start();
        talkUntil("ANSWER");
        change(frame -> {
            frame[67] &= ~1;
            System.arraycopy(toServer.sent.getFirst(), 80, frame, 272, 32);
        });
        talk();
        assertRefused(toServer, NO_SECRET, "the server has no shared secret, the client has one: set the same on both"
                + " sides, by UcxChannelOption.SHARED_SECRET or -Dio.github.nettyucx.secretFile");
        assertNoAddressWasSaid();
    }

    @Test
    void refusesItsOwnProofReflected() {
        for (LaneKind lane : List.of(LaneKind.SHM, LaneKind.SOCKET)) {
            HandshakeFixture pair = new HandshakeFixture() { };
            pair.clientTerms.secret(SECRET).lanes(lane.toString());
            pair.serverTerms.secret(SECRET);
            pair.start();
            pair.talkUntil(lane == LaneKind.SHM ? "OFFER" : "GO");
            pair.change(frame -> System.arraycopy(pair.toClient.sent.getFirst(), 272, frame, 4, 32));
            pair.talk();
            pair.assertFailed(pair.toClient, WRONG_SECRET, "the client" + WRONG);
            pair.givesEverythingBack();
        }
    }

    /** Somebody who knows no secret sends what a client has said to the same server. */
    @Test
    void refusesTheWholeConversationOfAnotherClient() {
        for (String lanes : List.of("shm", "socket")) {
            HandshakeFixture heard = new HandshakeFixture() { };
            heard.clientTerms.secret(SECRET).lanes(lanes);
            heard.serverTerms.secret(SECRET);
            heard.start();
            heard.talk();
            heard.assertOpen(LaneKind.valueOf(lanes.toUpperCase(Locale.ROOT)));

            Recorder recorder = new Recorder();
            ServerHandshake again = new ServerHandshake(heard.serverTerms::build, heard.serverLinks, recorder,
                    heard.random::nextBytes);
            for (byte[] frame : heard.toServer.sent) {
                again.received(Unpooled.wrappedBuffer(frame));
            }
            assertNull(recorder.outcome);
            assertEquals(WRONG_SECRET, recorder.failure.reason());
            assertFalse(isSaid(recorder.sent, TestTerms.SERVER), "the server's worker address");
            heard.givesEverythingBack();
        }
    }

    @Test
    void refusesTheWholeConversationOfAnotherServer() {
        start();
        talk();
        Recorder recorder = new Recorder();
        client = new ClientHandshake(clientTerms.build(), clientLinks, recorder, random::nextBytes);
        client.start();
        clientReceives(toClient.sent.getFirst());
        assertFailed(recorder, WRONG_SECRET, "the server" + WRONG);
        assertEquals(2, recorder.sent.size(), "HELLO and REFUSE");
    }

    /** Without a secret it is not proved who speaks, but a recording is noticed all the same. */
    @Test
    void noticesARecordingWithoutASecret() {
        clientTerms.secret(null);
        serverTerms.secret(null);
        start();
        talk();
        Recorder recorder = new Recorder();
        ServerHandshake again = new ServerHandshake(serverTerms::build, serverLinks, recorder, random::nextBytes);
        again.received(Unpooled.wrappedBuffer(toServer.sent.get(0), toServer.sent.get(2)));
        assertFailed(recorder, HandshakeFailure.PROTOCOL_VIOLATION,
                "the client's proof is not the nonce of the server: it belongs to another connection");
    }

    @Test
    void noticesEachBitOfAnswerThatIsChanged() {
        start();
        talkUntil("ANSWER");
        byte[] answer = toClient.sent.getFirst();
        for (int bit = 0; bit < answer.length * 8; bit++) {
            Recorder recorder = new Recorder();
            // Says the same HELLO as the first one: its nonce is the one of the first.
            byte[] nonce = part(toServer.sent.getFirst(), 80, 32);
            ClientHandshake again = new ClientHandshake(clientTerms.build(), clientLinks, recorder,
                    bytes -> System.arraycopy(nonce, 0, bytes, 0, 32));
            again.start();
            byte[] changed = answer.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            again.received(Unpooled.wrappedBuffer(changed));
            assertNotNull(recorder.failure, "bit " + bit);
            assertFalse(isSaid(recorder.sent, TestTerms.CLIENT), "the client's worker address");
        }
        assertEquals(0, clientLinks.made);
    }

    @Test
    void noticesEachBitOfHelloThatIsChanged() {
        startClient();
        byte[] hello = toServer.sent.getFirst();
        for (int bit = 0; bit < hello.length * 8; bit++) {
            byte[] nonce = part(hello, 80, 32);
            Recorder fromClient = new Recorder();
            Recorder fromServer = new Recorder();
            ClientHandshake one = new ClientHandshake(clientTerms.build(), clientLinks, fromClient,
                    bytes -> System.arraycopy(nonce, 0, bytes, 0, 32));
            ServerHandshake other = new ServerHandshake(serverTerms::build, serverLinks, fromServer,
                    random::nextBytes);
            one.start();
            byte[] changed = hello.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            other.received(Unpooled.wrappedBuffer(changed));
            if (fromServer.failure == null) {
                one.received(Unpooled.wrappedBuffer(fromServer.sent.getFirst()));
                assertNotNull(fromClient.failure, "bit " + bit);
                other.close();
            }
            one.close();
        }
        assertEquals(0, clientLinks.made);
    }

    @Test
    void noticesEachBitOfAProofThatIsChanged() {
        for (int bit = 0; bit < 256; bit++) {
            for (String frame : List.of("OFFER", "GO")) {
                HandshakeFixture pair = new HandshakeFixture() { };
                pair.clientTerms.secret(SECRET);
                pair.serverTerms.secret(SECRET);
                pair.start();
                pair.talkUntil(frame);
                int at = bit;
                pair.change(bytes -> bytes[4 + at / 8] ^= (byte) (1 << at % 8));
                pair.talk();
                pair.assertFailed(pair.toClient, WRONG_SECRET, "the client" + WRONG);
                pair.givesEverythingBack();
            }
        }
    }

    /** On the wire: neither side's worker address stands in anything that was sent before the other's proof. */
    @Test
    void saysItsWorkersAddressOnlyToWhomHasProved() {
        start();
        talkUntil("ANSWER");
        assertFalse(isSaid(toServer.sent, TestTerms.CLIENT));
        assertFalse(isSaid(toClient.sent, TestTerms.SERVER));
        talkUntil("OFFER");
        assertTrue(isSaid(toServer.sent, TestTerms.CLIENT), "ANSWER had the server's proof");
        assertFalse(isSaid(toClient.sent, TestTerms.SERVER));
        talkUntil("HALF");
        assertTrue(isSaid(toClient.sent, TestTerms.SERVER), "OFFER had the client's proof");
        talk();
        assertOpen(LaneKind.SHM);
    }

    private void assertNoAddressWasSaid() {
        assertFalse(isSaid(toServer.sent, TestTerms.CLIENT));
        assertFalse(isSaid(toClient.sent, TestTerms.SERVER));
    }

    /** Whether the worker address of any half of that side stands in what was sent. */
    private static boolean isSaid(List<byte[]> sent, Party whose) {
        // Each address of FakeLinks begins with the engine, which HELLO has at another place.
        String engine = String.format("%016x", whose.engine());
        return sent.stream().anyMatch(frame -> {
            int start = frame[0] == FrameType.OFFER.number() ? 56 : frame[0] == FrameType.HALF.number() ? 16 : 64;
            return frame.length > start && hex(part(frame, start, frame.length - start)).contains(engine);
        });
    }
}
