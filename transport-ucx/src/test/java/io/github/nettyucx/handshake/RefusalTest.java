// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.List;

import static io.github.nettyucx.handshake.HandshakeFailure.CONNECT_FAILED;
import static io.github.nettyucx.handshake.HandshakeFailure.NO_COMMON_LANE;
import static io.github.nettyucx.handshake.HandshakeFailure.OTHER_PROGRAM;
import static io.github.nettyucx.handshake.HandshakeFailure.OTHER_PROTOCOL_VERSION;
import static io.github.nettyucx.handshake.HandshakeFailure.PROTOCOL_VIOLATION;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What each side does not put up with, and what it says then. Secrets: {@link SecretTest}. */
class RefusalTest extends HandshakeFixture {

    // ------------------------------------------------------------------------------------------- first frames

    @Test
    void ofAnotherProgramThatConnects() {
        startServer();
        serverReceives(ascii("GET / HTTP/1.1\r\nHost: x"));
        assertFailed(toClient, OTHER_PROGRAM, "the client does not speak the Netty UCX protocol: it began with"
                + " \"GET / HTTP/1.1  \"");
        assertEquals(List.of(), toClient.sent, "it would not understand");
    }

    @Test
    void ofAnotherProgramAsSoonAsItShows() {
        startServer();
        serverReceives(ascii("Netty"));
        assertNull(toClient.failure);
        serverReceives(ascii("X"));
        assertFailed(toClient, OTHER_PROGRAM,
                "the client does not speak the Netty UCX protocol: it began with \"NettyX\"");
    }

    @Test
    void ofAnotherProgramThatListens() {
        startClient();
        clientReceives(ascii("SSH-2.0-OpenSSH_9.6"));
        assertFailed(toServer, OTHER_PROGRAM, "the server does not speak the Netty UCX protocol: it began with"
                + " \"SSH-2.0-OpenSSH_\"");
        assertEquals(1, toServer.sent.size(), "it would not understand");
    }

    /** Offsets are the same in HELLO and ANSWER. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "8  | 0003     | OTHER_PROTOCOL_VERSION | WHO speaks version 3 of the Netty UCX protocol, OTHER version 2:"
                + " use the same release of the transport on both sides",
        "8  | 0001     | OTHER_PROTOCOL_VERSION | WHO speaks version 1 of the Netty UCX protocol, OTHER version 2:"
                + " use the same release of the transport on both sides",
        "10 | 00ff     | PROTOCOL_VIOLATION | WHO's NAME has 255 bytes; expected LENGTH",
        "10 | ffff     | PROTOCOL_VIOLATION | WHO's NAME has 65535 bytes; expected LENGTH",
        "68 | 00000000 | PROTOCOL_VIOLATION | WHO announces a channel id of 0",
        "72 | 00000fff | PROTOCOL_VIOLATION | WHO announces a window of 4095 bytes; expected 4096 to 134217728",
        "72 | 08000001 | PROTOCOL_VIOLATION | WHO announces a window of 134217729 bytes; expected 4096 to 134217728",
        "72 | ffffffff | PROTOCOL_VIOLATION | WHO announces a window of 4294967295 bytes; expected 4096 to 134217728",
        "76 | 00000000 | PROTOCOL_VIOLATION | WHO announces a largest message of 0 bytes; expected 1 to the window,"
                + " 1048576",
        "76 | 00100001 | PROTOCOL_VIOLATION | WHO announces a largest message of 1048577 bytes; expected 1 to the"
                + " window, 1048576",
        "76 | 80000000 | PROTOCOL_VIOLATION | WHO announces a largest message of 2147483648 bytes; expected 1 to the"
                + " window, 1048576",
    })
    void ofAFirstFrameThatCannotBeTrue(int offset, String bytes, HandshakeFailure reason, String message) {
        for (String name : List.of("HELLO", "ANSWER")) {
            said.clear();
            HandshakeFixture pair = new HandshakeFixture() { };
            boolean byServer = name.equals("HELLO");
            pair.start();
            pair.talkUntil(name);
            pair.change(frame -> System.arraycopy(hex(bytes), 0, frame, offset, bytes.length() / 2));
            pair.talk();
            pair.assertRefused(byServer ? pair.toClient : pair.toServer, reason,
                    message.replace("WHO", byServer ? "the client" : "the server")
                            .replace("OTHER", byServer ? "the server" : "the client")
                            .replace("NAME", name).replace("LENGTH", byServer ? "256" : "304"));
            pair.givesEverythingBack();
        }
    }

    /** Twelve bytes are enough: a HELLO of another version can have another length. */
    @Test
    void ofAnotherVersionInWordsThatAllVersionsUnderstand() {
        startServer();
        serverReceives(hex("4e65747479554358 0063 4000"));
        String text = "the client speaks version 99 of the Netty UCX protocol, the server version 2:"
                + " use the same release of the transport on both sides";
        assertFailed(toClient, OTHER_PROTOCOL_VERSION, text);
        assertEquals("0400" + String.format("%04x", 8 + text.length()) + "0002" + "01" + "00" + hex(ascii(text)),
                hex(toClient.sent.getFirst()));
    }

    @Test
    void ofAnotherVersionIsUnderstood() {
        startClient();
        clientReceives(hex("04 00 000b 0009 01 00" + hex(ascii("hey"))));
        assertFailed(toServer, OTHER_PROTOCOL_VERSION, "the server refused the connection: the server speaks version 9"
                + " of the Netty UCX protocol, the client version 2: use the same release of the transport on both"
                + " sides");
        assertTrue(toServer.failure.ofPeer());
        assertEquals(1, toServer.sent.size(), "a refusal is not answered");
    }

    @Test
    void withATextThatIsMadePrintable() {
        startClient();
        clientReceives(hex("04 00 000e 0002 c8 00" + hex(ascii("no\n\u001b[m"))));
        assertFailed(toServer, CONNECT_FAILED, "the server refused the connection: no ?[m");
    }

    @Test
    void ofAClientWithoutACommonLane() {
        clientTerms.lanes("tcp");
        serverTerms.lanes("shm,socket").without(LaneKind.SHM, "/dev/shm is full");
        start();
        talk();
        assertRefused(toClient, NO_COMMON_LANE,
                "there is no lane: shm: /dev/shm is full; socket: not offered by the client");
    }

    // ------------------------------------------------------------------------------------------- the server's

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "00           | the client sent a frame of type 0; expected OFFER or GO or REFUSE",
        "05           | the client sent a frame of type 5; expected OFFER or GO or REFUSE",
        "4e           | the client sent a frame of type 78; expected OFFER or GO or REFUSE",
        "02           | the client sent HALF; expected OFFER or GO or REFUSE",
        "01 00 0037   | the client's OFFER has 55 bytes; expected 56 to 8248",
        "01 00 2039   | the client's OFFER has 8249 bytes; expected 56 to 8248",
        "04 00 0007   | the client's REFUSE has 7 bytes; expected 8 to 263",
        "04 00 0108   | the client's REFUSE has 264 bytes; expected 8 to 263",
    })
    void ofAFrameAsSoonAsItsHeaderIsWrong(String header, String message) {
        start();
        talkUntil("OFFER");
        serverReceives(hex(header));
        assertServerRefuses(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "03 01 0000000000000001 0000000000000000 6161 | the client's OFFER is of kind 3; expected 1 or 2",
        "01 01 0000000000000000 0000000000000000 6161 | the client offers a link with number 0",
        "01 01 0000000000000001 0000000000000000 ''   | the client's OFFER of a new link has 56 bytes;"
                + " expected 57 to 8248",
        "02 01 0000000000000001 0000000000000002 61   | the client's OFFER of a link that exists has 57 bytes;"
                + " expected 56",
        "01 00 0000000000000001 0000000000000000 6161 | the client's OFFER is of lane 0, which has no links",
        "01 04 0000000000000001 0000000000000000 6161 | the client's OFFER is of lane 4, which has no links",
        "01 05 0000000000000001 0000000000000000 6161 | the client's OFFER is of lane 5, which has no links",
        "01 03 0000000000000001 0000000000000000 6161 | the client's OFFER is of lane tcp, which the server cannot take:"
                + " not among the lanes of the server",
    })
    void ofAnOfferThatMakesNoSense(String content, String message) {
        start();
        talkUntil("OFFER");
        byte[] rest = hex(content.substring(6).replace("''", ""));
        ByteBuf frame = FrameType.OFFER.begin(rest.length - 16);
        frame.writeBytes(proof()).writeByte(content.charAt(1) - '0').writeByte(content.charAt(4) - '0').writeZero(2)
                .writeBytes(rest);
        serverReceives(bytes(frame));
        assertServerRefuses(message);
    }

    @Test
    void ofAnOfferWithTheProofOfAnotherConnection() {
        start();
        talkUntil("OFFER");
        change(frame -> frame[35] ^= 1);
        talk();
        assertRefused(toClient, PROTOCOL_VIOLATION,
                "the client's proof is not the nonce of the server: it belongs to another connection");
        assertEquals(0, serverLinks.halves.size(), "nothing was made for it");
    }

    @Test
    void ofAnOfferWhereTheSocketWasChosen() {
        serverTerms.lanes("socket");
        start();
        talkUntil("GO");
        serverReceives(bytes(new Offer(proof(), LaneKind.SHM, 1, 0, new byte[48]).encode()));
        assertServerRefuses("the client sent OFFER; expected GO or REFUSE");
    }

    @Test
    void ofASecondOfferWhenThereIsAHalf() {
        start();
        talkUntil("HALF");
        serverReceives(toServer.sent.getLast());
        assertServerRefuses("the client's OFFER is of lane shm, which was settled before");
    }

    @Test
    void ofALaneThatTheClientHasTurnedFrom() {
        clientLinks.unavailable = lane -> lane == LaneKind.SHM ? "no worker" : null;
        start();
        talkUntil("HALF");
        serverReceives(bytes(new Offer(proof(), LaneKind.SHM, 1, 0, new byte[48]).encode()));
        assertServerRefuses("the client's OFFER is of lane shm, which was settled before");
    }

    @Test
    void ofAFourthOffer() {
        start();
        talkUntil("OFFER");
        byte[] stale = bytes(new Offer(proof(), LaneKind.SHM, 1, 2, null).encode());
        for (int i = 0; i < 3; i++) {
            serverReceives(stale);
            assertEquals(hex(bytes(Half.stale().encode())), hex(toClient.sent.getLast()));
        }
        serverReceives(stale);
        assertServerRefuses("the client sent OFFER 4 times for one lane; expected 3 at most");
    }

    /** The client takes what comes after its GO for the application's bytes: nothing is said to it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "00 | 01 | 0000000000000001 0000000000000002 ''     | the client's proof is not the nonce of the server:"
                + " it belongs to another connection",
        "01 | 00 | 0000000000000000 0000000000000000 ''     | the client's GO has lane 0, which does not exist",
        "01 | 05 | 0000000000000000 0000000000000000 ''     | the client's GO has lane 5, which does not exist",
        "01 | 02 | 0000000000000001 0000000000000002 ''     | the client's GO has lane rdma, which was not agreed on",
        "01 | 01 | 0000000000000001 0000000000000002 ''     | the client's GO names a link that was not agreed on",
        "01 | 01 | 0000000000000001 0000000000000002 616263 | the client's GO with the chosen lane has 59 bytes; expected 56",
        "01 | 04 | 0000000000000001 0000000000000000 ''     | the client's GO has lane socket and names a link",
        "01 | 04 | 0000000000000000 0000000000000001 616263 | the client's GO has lane socket and names a link",
        "01 | 04 | 0000000000000000 0000000000000000 616263 | the client's GO has lane socket, which the server did"
                + " not offer",
    })
    void ofAGoWithoutAWord(String rightProof, String lane, String content, String message) {
        serverTerms.lanes("shm");
        start();
        talkUntil("OFFER");
        byte[] rest = hex(content.replace("''", ""));
        ByteBuf frame = FrameType.GO.begin(rest.length - 16);
        frame.writeBytes(rightProof.equals("01") ? proof() : new byte[32]).writeBytes(hex(lane)).writeZero(3)
                .writeBytes(rest);
        int before = toClient.sent.size();
        serverReceives(bytes(frame));
        assertFailed(toClient, PROTOCOL_VIOLATION, message);
        assertEquals(before, toClient.sent.size());
    }

    @Test
    void ofAGoWithoutAWordAsSoonAsItsHeaderIsWrong() {
        start();
        talkUntil("OFFER");
        int before = toClient.sent.size();
        serverReceives(hex("03 00 0138"));
        assertFailed(toClient, PROTOCOL_VIOLATION, "the client's GO has 312 bytes; expected 56 to 311");
        assertEquals(before, toClient.sent.size());
    }

    @ParameterizedTest
    @CsvSource({"40", "47", "48", "55"})
    void ofAGoWithAnotherNumberThanTheHalvesHave(int offset) {
        start();
        talkUntil("GO");
        change(frame -> frame[offset] ^= 1);
        talk();
        assertFailed(toClient, PROTOCOL_VIOLATION, "the client's GO names a link that was not agreed on");
        assertFalse(serverLinks.halves.getFirst().confirmed);
    }

    @Test
    void ofAGoWithAnotherNumberThanTheLinkOfBothHas() {
        FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
        start();
        talkUntil("GO");
        change(frame -> frame[40] ^= 1);
        talk();
        assertFailed(toClient, CONNECT_FAILED, "the server does not have the link that the client's GO names");
    }

    @Test
    void ofAGoWhoseLinkHasFailedMeanwhile() {
        FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
        start();
        talkUntil("GO");
        serverLinks.halves.getFirst().gone = true;
        talk();
        assertFailed(toClient, CONNECT_FAILED, "the server does not have the link that the client's GO names");
    }

    // ------------------------------------------------------------------------------------------- the client's

    @Test
    void ofAServerThatSpeaksFirst() {
        client = new ClientHandshake(clientTerms.build(), clientLinks, toServer, random::nextBytes);
        clientReceives(ascii("N"));
        assertFailed(toServer, PROTOCOL_VIOLATION, "the server spoke before the client");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0 | the server chose lane 0, which does not exist",
        "5 | the server chose lane 5, which does not exist",
        "3 | the server chose lane tcp, which the client cannot take: not among the lanes of the client",
        "2 | the server chose lane rdma, which the client cannot take: no device",
    })
    void ofALaneThatCannotBe(int lane, String message) {
        clientTerms.without(LaneKind.RDMA, "no device");
        start();
        talkUntil("ANSWER");
        change(frame -> frame[256] = (byte) lane);
        talk();
        assertRefused(toServer, PROTOCOL_VIOLATION, message);
    }

    /** A server that thinks little of translated addresses does not decide for the client. */
    @Test
    void ofALanePastAProxy() {
        start();
        talkUntil("ANSWER");
        change(frame -> frame[130] ^= 1);
        talk();
        assertRefused(toServer, PROTOCOL_VIOLATION, "the server chose lane shm, which the client cannot take: the two"
                + " sides see different addresses: the client has 10.1.2.4:40000 and 10.1.2.4:8080, the server has"
                + " 10.1.2.4:8080 and [100:0:0:0:0:ffff:a01:204]:40000");
    }

    @Test
    void ofAnAnswerToAnotherConnection() {
        start();
        talkUntil("ANSWER");
        change(frame -> frame[303] ^= 1);
        talk();
        assertRefused(toServer, PROTOCOL_VIOLATION,
                "the server's proof is not the nonce of the client: it belongs to another connection");
    }

    @Test
    void ofMoreThanWasAskedFor() {
        start();
        talkUntil("ANSWER");
        byte[] answer = toClient.sent.getFirst();
        clientReceives(Arrays.copyOf(answer, answer.length + 3));
        assertClientRefuses("the server sent 3 bytes more than it was asked for");
        assertEquals(0, clientLinks.made);
    }

    @Test
    void ofMoreThanAHalf() {
        start();
        talkUntil("HALF");
        byte[] half = toClient.sent.getLast();
        clientReceives(Arrays.copyOf(half, half.length + 1));
        assertClientRefuses("the server sent 1 bytes more than it was asked for");
        assertEquals(1, clientLinks.abandoned);
    }

    @Test
    void ofAFrameWhileTheClientHasNotAsked() {
        clientLinks.later = work -> { };
        start();
        talk();
        clientReceives(hex("02"));
        assertClientRefuses("the server sent HALF; expected REFUSE");
        assertEquals(1, clientLinks.withdrawn);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "4e          | the server sent a frame of type 78; expected HALF or REFUSE",
        "01          | the server sent OFFER; expected HALF or REFUSE",
        "03          | the server sent GO; expected HALF or REFUSE",
        "02 00 000f  | the server's HALF has 15 bytes; expected 16 to 8208",
        "02 00 2011  | the server's HALF has 8209 bytes; expected 16 to 8208",
        "02 00 0011 00 000000 0000000000000001 61 | the server's HALF has status 0; expected 1 to 3",
        "02 00 0011 04 000000 0000000000000001 61 | the server's HALF has status 4; expected 1 to 3",
        "02 00 0010 02 000000 0000000000000000    | the server's HALF has status STALE for a new link",
        "02 00 0011 01 000000 0000000000000000 61 | the server's HALF has a link number that was not offered, or 0",
        "02 00 0010 01 000000 0000000000000001    | the server's HALF of a new link has 16 bytes; expected 17 to 8208",
    })
    void ofAHalfOfANewLinkThatMakesNoSense(String bytes, String message) {
        start();
        talkUntil("HALF");
        clientReceives(hex(bytes));
        assertClientRefuses(message);
        assertEquals(1, clientLinks.abandoned);
    }

    @Test
    void ofAReasonThatIsTooLong() {
        start();
        talkUntil("HALF");
        clientReceives(hex("02 00 0110 03 000000 0000000000000000" + "61".repeat(256)));
        assertClientRefuses("the server's HALF with a text has 272 bytes; expected 16 to 271");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "02 00 0011 03 000000 0000000000000000 61 | the server's HALF has status FAILED for a link that exists",
        "02 00 0010 01 000000 0000000000000001    | the server's HALF has a link number that was not offered, or 0",
        "02 00 0011 02 000000 0000000000000000 61 | the server's HALF without an address has 17 bytes; expected 16",
    })
    void ofAHalfOfALinkThatExistsThatMakesNoSense(String bytes, String message) {
        FakeLinks.join(clientLinks, new FakeLinks(TestTerms.SERVER, random), LaneKind.SHM, TestTerms.CLIENT,
                TestTerms.SERVER);
        start();
        talkUntil("HALF");
        clientReceives(hex(bytes));
        assertClientRefuses(message);
    }

    // ------------------------------------------------------------------------------------------- helpers

    /** The right one of the client, without a secret: the server's nonce. */
    private byte[] proof() {
        return part(toClient.sent.getFirst(), 80, 32);
    }

    private void assertServerRefuses(String message) {
        assertFailed(toClient, PROTOCOL_VIOLATION, message);
        assertWords(toClient, message);
    }

    private void assertClientRefuses(String message) {
        assertFailed(toServer, PROTOCOL_VIOLATION, message);
        assertWords(toServer, message);
    }

    private static void assertWords(Recorder who, String message) {
        byte[] frame = who.sent.getLast();
        assertEquals("REFUSE", name(frame));
        Refuse refuse = Refuse.decode(Unpooled.wrappedBuffer(frame).skipBytes(FrameType.HEADER_LENGTH));
        assertEquals(new Refuse(Hello.VERSION, PROTOCOL_VIOLATION, message), refuse);
    }
}
