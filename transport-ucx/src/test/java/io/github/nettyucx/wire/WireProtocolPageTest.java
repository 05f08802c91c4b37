// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The tables of docs/wire-protocol.md say what the code does. */
class WireProtocolPageTest extends ConnectionFixture {

    WireProtocolPageTest() {
        super(true);
    }

    // ------------------------------------------------------------------------------------------- tables

    @Test
    void tellsTheConstants() throws IOException {
        Map<String, String> constants = ProtocolPage.table("constant", "value", "meaning").stream()
                .collect(Collectors.toMap(row -> row.get(0), row -> row.get(1)));
        assertEquals(Map.of(
                "MIN_WINDOW", String.valueOf(Limits.MIN_WINDOW),
                "MAX_WINDOW", String.valueOf(Limits.MAX_WINDOW),
                "MESSAGE_CHARGE", String.valueOf(Limits.MESSAGE_CHARGE),
                "GRANT_UNIT", String.valueOf(Tag.GRANT_UNIT),
                "MAX_VALUE", String.valueOf(Tag.MAX_VALUE)), constants);
    }

    @Test
    void tellsWhereThePartsOfATagAre() throws IOException {
        Map<String, Long> parts = Map.of(
                "channel id", Tag.of(-1, 0, 0),
                "type", Tag.of(0, 15, 0),
                "value", Tag.of(0, 0, Tag.MAX_VALUE));
        for (List<String> row : ProtocolPage.table("bits", "field", "content")) {
            String[] bits = row.get(0).split("–");
            int high = Integer.parseInt(bits[0]);
            int low = Integer.parseInt(bits[1]);
            assertEquals(parts.get(row.get(1)), -1L >>> 63 - high & -1L << low, row::toString);
        }
    }

    @Test
    void tellsTheTypesOfMessages() throws IOException {
        Map<String, String> types = ProtocolPage.table("type", "name", "bytes", "value").stream()
                .collect(Collectors.toMap(row -> row.get(1), row -> row.get(0)));
        assertEquals(Map.of(
                "DATA", String.valueOf(Tag.DATA),
                "CREDIT", String.valueOf(Tag.CREDIT),
                "FIN", String.valueOf(Tag.FIN),
                "FIN_ACK", String.valueOf(Tag.FIN_ACK),
                "MEMORY_REQUEST", String.valueOf(Tag.MEMORY_REQUEST),
                "MEMORY_PUT", String.valueOf(Tag.MEMORY_PUT),
                "MEMORY_ANSWER", String.valueOf(Tag.MEMORY_ANSWER),
                "MEMORY_GET", String.valueOf(Tag.MEMORY_GET),
                "MEMORY_REVOKED", String.valueOf(Tag.MEMORY_REVOKED),
                "COUNT", String.valueOf(Tag.COUNT)), types);
    }

    @Test
    void tellsWhatMayBeAnnounced() throws IOException {
        assertEquals(List.of("channelId", "window", "maxMessage"),
                ProtocolPage.table("field", "content").stream().map(List::getFirst).toList());
        for (int window : new int[] {Limits.MIN_WINDOW, Limits.MAX_WINDOW}) {
            assertTrue(Limits.allow(window, 1));
            assertTrue(Limits.allow(window, window));
            assertFalse(Limits.allow(window, 0));
            assertFalse(Limits.allow(window, window + 1));
        }
        assertFalse(Limits.allow(Limits.MIN_WINDOW - 1, 1));
        assertFalse(Limits.allow(Limits.MAX_WINDOW + 1, 1));
    }

    // ------------------------------------------------------------------------------------------- arithmetic

    @Test
    void tellsWhenCreditIsGranted() throws IOException {
        assertTrue(Files.readString(ProtocolPage.PATH).contains("`owed ≥ window / 4`"));
        open();
        port.deliver(Tag.DATA, 0, new byte[WINDOW / 4 - Limits.MESSAGE_CHARGE]);
        read(WINDOW / 4 - Limits.MESSAGE_CHARGE - 1);
        assertEquals(0, port.sent.size());
        read(1);
        assertEquals(Tag.of(PEER, Tag.CREDIT, WINDOW / 4), port.sent.getLast().tag());
    }

    /** A sender that waits has so little credit that a receiver that has read everything has to grant. */
    @ParameterizedTest
    @MethodSource("windows")
    void doesNotLetASenderWaitForEver(int window) {
        Outbound outbound = new Outbound(port, Traffic.ofConnection());
        outbound.open(1, window, window);
        // The largest message that a sender may wait with, and the credit that it then has.
        int room = window / 8;
        while (outbound.isWorthwhile(room)) {
            room--;
        }
        int credit = room + Limits.MESSAGE_CHARGE;
        assertTrue(credit < window / 8.0 + 64);
        assertTrue(window - credit > window / 8.0 * 7 - 64);
        assertTrue(window - credit >= window / 4);
    }

    static Stream<Integer> windows() {
        return Stream.of(Limits.MIN_WINDOW, Limits.MIN_WINDOW + 1, 65_535, 1 << 20, Limits.MAX_WINDOW);
    }

    // ------------------------------------------------------------------------------------------- violations

    static Stream<List<String>> violations() throws IOException {
        return ProtocolPage.table("violation", "message").stream();
    }

    @ParameterizedTest
    @MethodSource("violations")
    void tellsWhatIsSaidOfAViolation(List<String> row) {
        open();
        violate(row.get(0));
        assertInstanceOf(ProtocolException.class, failure);
        String pattern = Pattern.quote(row.get(1)).replaceAll("\\bN\\b", "\\\\E[0-9]+\\\\Q");
        assertTrue(failure.getMessage().matches(pattern), failure.getMessage());
    }

    private void violate(String violation) {
        switch (violation) {
            case "a type that does not exist" -> port.deliver(15, 0);
            case "a control message with bytes" -> port.deliver(Tag.FIN, 0, text("bytes"));
            case "DATA without bytes, or with too many" -> port.deliver(Tag.DATA, 0);
            case "more DATA than there is credit for" -> {
                for (int i = 0; i < WINDOW / MAX_MESSAGE; i++) {
                    port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
                }
            }
            case "DATA whose number is not the next one" -> {
                port.lose(1);
                port.deliver(Tag.DATA, 0, text("behind"));
            }
            case "FIN whose count is another one" -> {
                port.lose(1);
                port.deliver(Tag.FIN, 0);
            }
            case "COUNT of another number of messages than have come" -> port.deliver(Tag.COUNT, 1);
            case "COUNT behind a message of which a part has not come" -> {
                port.deliver(Tag.DATA, 0, text("in parts"));
                port.answer(ScriptedPort.PENDING);
                read(1);
                port.deliver(Tag.COUNT, 1);
                port.poll();
            }
            case "DATA after FIN" -> {
                port.deliver(Tag.FIN, 0);
                port.deliver(Tag.DATA, 0, text("late"));
            }
            case "a second FIN" -> {
                port.deliver(Tag.FIN, 0);
                port.deliver(Tag.FIN, 0);
            }
            case "FIN_ACK that answers no FIN" -> port.deliver(Tag.FIN_ACK, 0);
            case "more credit than the window" -> port.deliver(Tag.CREDIT, 1);
            default -> throw new AssertionError("no test of: " + violation);
        }
    }
}
