// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.github.nettyucx.wire.Limits;
import io.github.nettyucx.wire.ProtocolPage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What docs/wire-protocol.md says about connecting is what the code does. */
class ConnectingPageTest extends HandshakeFixture {

    private static final String[] FIELDS = {"offset", "bytes", "field", "content"};

    /** The rows of the first table with this header after that text, without backquotes. */
    private static List<List<String>> table(String after, String... header) throws IOException {
        List<String> lines = Files.readAllLines(ProtocolPage.PATH);
        int next = 0;
        while (!lines.get(next).startsWith(after)) {
            next++;
        }
        while (!cells(lines.get(next)).equals(List.of(header))) {
            next++;
        }
        List<List<String>> rows = new ArrayList<>();
        // After the header and the line below it.
        for (next += 2; lines.get(next).startsWith("|"); next++) {
            rows.add(cells(lines.get(next)));
        }
        assertFalse(rows.isEmpty());
        return rows;
    }

    private static List<String> cells(String line) {
        return line.startsWith("|") ? Arrays.stream(line.substring(1, line.length() - 1).split("\\|"))
                .map(cell -> cell.strip().replace("`", "")).toList() : List.of();
    }

    // ------------------------------------------------------------------------------------------- frames

    private static final String NONCE = "77".repeat(32);
    private static final String PROOF = "88".repeat(32);

    private static Hello hello() {
        return new Hello(0x01160003, new Party(new ProcessIdentity(0x11, 0x12, 0x13, 0x14, 0x15), 0x16), 0x0b, true,
                true, 0xcafebabe, 0x00123456, 0x00012345, hex(NONCE), new InetSocketAddress("10.1.2.3", 0x1234),
                new InetSocketAddress("10.1.2.4", 0x2345));
    }

    @Test
    void tellsTheFieldsOfHello() throws IOException {
        ByteBuf frame = Unpooled.buffer();
        hello().encode(frame, Hello.LENGTH);
        Map<String, String> expected = Map.ofEntries(
                Map.entry("magic", "4e65747479554358"), Map.entry("version", "0002"), Map.entry("length", "0100"),
                Map.entry("ucxVersion", "01160003"), Map.entry("host", number(0x11)),
                Map.entry("network", number(0x12)), Map.entry("ipc", number(0x13)), Map.entry("pid", number(0x14)),
                Map.entry("process", number(0x15)), Map.entry("engine", number(0x16)), Map.entry("lanes", "000b"),
                Map.entry("flags", "0003"), Map.entry("channelId", "cafebabe"), Map.entry("window", "00123456"),
                Map.entry("maxMessage", "00012345"), Map.entry("nonce", NONCE),
                Map.entry("localAddress", "00000000000000000000ffff0a010203"), Map.entry("localPort", "1234"),
                Map.entry("remoteAddress", "00000000000000000000ffff0a010204"), Map.entry("remotePort", "2345"));
        assertFields("`HELLO` has 256 bytes", 0, bytes(frame), expected);
    }

    @Test
    void tellsTheFieldsOfAnswer() throws IOException {
        ByteBuf frame = Unpooled.buffer();
        new Answer(hello(), LaneKind.RDMA, 0x99).encode(frame);
        frame.writeBytes(hex(PROOF));
        assertFields("`ANSWER` has 304 bytes", Hello.LENGTH, bytes(frame),
                Map.of("lane", "02", "link", number(0x99), "proof", PROOF));
    }

    @Test
    void tellsTheFieldsOfTheOthers() throws IOException {
        byte[] refuse = bytes(new Refuse(2, HandshakeFailure.WRONG_SECRET, "no").encode());
        assertFields("### Frames that follow", 0, part(refuse, 0, 4), Map.of("type", "04", "length", "000a"));
        assertFields("`REFUSE`:", 4, refuse, Map.of("version", "0002", "code", "04", "text", "6e6f"));
        assertFields("`OFFER`:", 4, bytes(new Offer(hex(PROOF), LaneKind.SHM, 0x21, 0, hex("616263")).encode()), Map.of(
                "proof", PROOF, "kind", "01", "lane", "01", "client", number(0x21), "server", number(0), "address", "616263"));
        assertFields("`HALF`:", 4, bytes(Half.ok(0x22, hex("646566")).encode()),
                Map.of("status", "01", "server", number(0x22), "content", "646566"));
        assertFields("`GO`:", 4, bytes(new Go(hex(PROOF), LaneKind.SOCKET, 0, 0, "why").encode()), Map.of(
                "proof", PROOF, "lane", "04", "client", number(0), "server", number(0), "reason", "776879"));
        String types = table("### Frames that follow", FIELDS).getFirst().get(3);
        assertEquals(Arrays.stream(FrameType.values()).map(type -> type.number() + " " + type)
                .collect(Collectors.joining(", ")), types);
    }

    private static String number(long value) {
        return String.format("%016x", value);
    }

    /** Fields follow each other without a gap to the end of the frame, and what is reserved is zero. */
    private static void assertFields(String after, int start, byte[] frame, Map<String, String> expected)
            throws IOException {
        int next = start;
        int known = 0;
        for (List<String> row : table(after, FIELDS)) {
            assertEquals(next, Integer.parseInt(row.get(0)), () -> "gap before " + row);
            int length = row.get(1).equals("rest") ? frame.length - next : Integer.parseInt(row.get(1));
            String field = row.get(2);
            known += field.equals("reserved") ? 0 : 1;
            assertEquals(field.equals("reserved") ? "00".repeat(length) : expected.get(field),
                    hex(part(frame, next, length)), row::toString);
            next += length;
        }
        assertEquals(frame.length, next);
        assertEquals(expected.size(), known);
    }

    // ------------------------------------------------------------------------------------------- other tables

    @Test
    void tellsTheLanes() throws IOException {
        List<List<String>> rows = table("### Lanes", "lane", "number", "bit", "what it is");
        assertEquals(Arrays.stream(LaneKind.values())
                        .map(kind -> List.of(kind.toString(), "" + kind.number(), "" + kind.bit())).toList(),
                rows.stream().map(row -> row.subList(0, 3)).toList());
    }

    @Test
    void tellsTheLimits() throws IOException {
        Map<String, String> limits = table("### Limits", "limit", "value", "meaning").stream()
                .collect(Collectors.toMap(row -> row.get(0), row -> row.get(1)));
        assertEquals(Map.of(
                "VERSION", "" + Hello.VERSION,
                "MAX_BUFFERED", "" + Handshake.MAX_BUFFERED,
                "MAX_ADDRESS", "" + FrameType.MAX_ADDRESS,
                "MAX_BYTES", "" + PeerText.MAX_BYTES,
                "MAX_REQUESTS", "" + ClientHandshake.MAX_REQUESTS,
                "MIN_LENGTH", "" + SharedSecret.MIN_LENGTH), limits);
        // These stand in another table, which is compared with the wire room's.
        assertEquals(List.of(Limits.MIN_WINDOW, Limits.MAX_WINDOW), List.of(Hello.MIN_WINDOW, Hello.MAX_WINDOW));
    }

    @Test
    void tellsTheCodes() throws IOException {
        Map<String, String> codes = table("### Refusing", "code", "reason", "when").stream()
                .collect(Collectors.toMap(row -> row.get(1), row -> row.get(0)));
        assertEquals(Arrays.stream(HandshakeFailure.values()).filter(failure -> failure.code() != 0)
                .collect(Collectors.toMap(HandshakeFailure::name, failure -> "" + failure.code())), codes);
    }

    /** How it goes, in the order of the table. */
    @ParameterizedTest
    @MethodSource("courses")
    void tellsHowItGoes(List<String> row) {
        switch (row.getFirst()) {
            case "the server names a link that the client has" ->
                FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
            case "the client has a link that the server did not name" -> {
                FakeLinks.join(clientLinks, serverLinks, LaneKind.SHM, TestTerms.CLIENT, TestTerms.SERVER);
                serverLinks.halves.getFirst().confirmed = false;
            }
            case "the lane is the socket" -> serverTerms.lanes("socket");
            case "the server cannot have the lane that it chose" ->
                serverLinks.acceptFailure = lane -> lane == LaneKind.SHM ? "no memory" : null;
            case "the client cannot have the lane that the server chose" ->
                clientLinks.unavailable = lane -> lane == LaneKind.SHM ? "no memory" : null;
            default -> assertEquals("there is no link yet", row.getFirst());
        }
        start();
        talk();
        assertNotNull(toClient.outcome);
        assertEquals(row.get(1), String.join(", ", said));
    }

    static Stream<List<String>> courses() throws IOException {
        return table("How it goes", "when", "frames").stream();
    }

    // ------------------------------------------------------------------------------------------- violations

    static Stream<List<String>> violations() throws IOException {
        return table("### Refusing", "what", "message").stream();
    }

    @ParameterizedTest
    @MethodSource("violations")
    void tellsWhatIsSaid(List<String> row) {
        violate(row.getFirst());
        talk();
        HandshakeException failure = toClient.failure != null && !toClient.failure.ofPeer() ? toClient.failure
                : toServer.failure;
        assertNotNull(failure);
        assertFalse(failure.ofPeer());
        String pattern = Pattern.quote(row.get(1)).replaceAll("\\bN\\b", "\\\\E[0-9]+\\\\Q");
        assertTrue(failure.getMessage().matches(pattern), failure.getMessage());
    }

    private void violate(String what) {
        switch (what) {
            case "another version" -> changed("HELLO", 9, 3);
            case "HELLO of another length" -> changed("HELLO", 11, 1);
            case "ANSWER of another length" -> changed("ANSWER", 11, 1);
            case "channel id 0" -> {
                startTalking("HELLO");
                change(frame -> Arrays.fill(frame, 68, 72, (byte) 0));
            }
            case "window out of range" -> changed("HELLO", 72, 0xff);
            case "largest message out of range" -> changed("HELLO", 76, 0xff);
            case "only one side has a secret" -> {
                serverTerms.secret(SECRET);
                start();
            }
            case "the proof is wrong, with a secret" -> {
                clientTerms.secret(SECRET);
                serverTerms.secret("another one of enough bytes");
                start();
            }
            case "the proof is wrong, without a secret" -> changed("ANSWER", 272, 0);
            case "a lane that does not exist" -> changed("ANSWER", 256, 9);
            case "a lane that cannot be" -> {
                serverTerms.without(LaneKind.RDMA, "no device");
                changed("ANSWER", 256, LaneKind.RDMA.number());
            }
            case "more bytes than there was a question for" -> {
                startTalking("ANSWER");
                clientIn.writeBytes(toClient.sent.getFirst());
                clientReceives(new byte[1]);
            }
            case "a frame out of order" -> changed("OFFER", 0, 2);
            case "a type that does not exist" -> changed("OFFER", 0, 9);
            case "a frame too short or too long" -> changed("OFFER", 2, 0xff);
            case "a kind that does not exist" -> changed("OFFER", 36, 9);
            case "an offer of number 0" -> {
                startTalking("OFFER");
                change(frame -> Arrays.fill(frame, 40, 48, (byte) 0));
            }
            case "an offer of the socket" -> changed("OFFER", 37, LaneKind.SOCKET.number());
            case "an offer of a lane that cannot be" -> changed("OFFER", 37, LaneKind.TCP.number());
            case "an offer of a lane that has been answered" -> {
                startTalking("HALF");
                serverReceives(toServer.sent.getLast());
            }
            case "a fourth OFFER" -> {
                startTalking("OFFER");
                byte[] nonce = part(toClient.sent.getFirst(), 80, 32);
                for (int i = 0; i < 4; i++) {
                    serverReceives(bytes(new Offer(nonce, LaneKind.SHM, 1, 2, null).encode()));
                }
            }
            case "a status that does not exist" -> changed("HALF", 4, 9);
            case "a status that is no answer" -> changed("HALF", 4, 2);
            case "a half with another number" -> {
                startTalking("HALF");
                change(frame -> Arrays.fill(frame, 8, 16, (byte) 0));
            }
            default -> throw new AssertionError("no test of: " + what);
        }
    }

    private void changed(String frame, int offset, int value) {
        startTalking(frame);
        change(bytes -> bytes[offset] = (byte) value);
    }

    private void startTalking(String until) {
        start();
        talkUntil(until);
    }
}
