// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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

    private static final Path PAGE = (Path.of("").toAbsolutePath().endsWith("transport-ucx")
            ? Path.of("..") : Path.of(".")).resolve("docs/wire-protocol.md");

    /** The rows of the table with this header, without backquotes. */
    private static List<List<String>> table(String... header) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(PAGE)) {
            if (!line.startsWith("|")) {
                inside = false;
                continue;
            }
            List<String> cells = Arrays.stream(line.substring(1, line.length() - 1).split("\\|"))
                    .map(cell -> cell.strip().replace("`", "")).toList();
            if (inside && !cells.getFirst().startsWith("---")) {
                rows.add(cells);
            }
            inside |= cells.equals(List.of(header));
        }
        assertFalse(rows.isEmpty(), () -> "no table of " + List.of(header));
        return rows;
    }

    // ------------------------------------------------------------------------------------------- tables

    @Test
    void tellsTheConstants() throws IOException {
        Map<String, String> constants = table("constant", "value", "meaning").stream()
                .collect(Collectors.toMap(row -> row.get(0), row -> row.get(1)));
        assertEquals(Map.of(
                "VERSION", String.valueOf(Hello.VERSION),
                "LENGTH", String.valueOf(Hello.LENGTH),
                "MIN_WINDOW", String.valueOf(Hello.MIN_WINDOW),
                "MAX_WINDOW", String.valueOf(Hello.MAX_WINDOW),
                "MESSAGE_CHARGE", String.valueOf(Outbound.MESSAGE_CHARGE),
                "MAX_VALUE", String.valueOf(Tag.MAX_VALUE)), constants);
    }

    @Test
    void tellsWhereTheFieldsOfAHelloAre() throws IOException {
        ByteBuf hello = Unpooled.buffer();
        new Hello(Hello.VERSION, 0x01160000, 0xcafebabe, 0x00123456, 0x00012345).encode(hello);
        Map<String, String> expected = Map.of(
                "magic", "4e65747479554358",
                "version", "0001",
                "length", "0040",
                "ucxVersion", "01160000",
                "channelId", "cafebabe",
                "window", "00123456",
                "maxMessage", "00012345",
                "reserved", "00".repeat(36));
        int next = 0;
        List<List<String>> rows = table("offset", "bytes", "field", "content");
        for (List<String> row : rows) {
            int offset = Integer.parseInt(row.get(0));
            int length = Integer.parseInt(row.get(1));
            assertEquals(next, offset, () -> "gap before " + row);
            next = offset + length;
            assertEquals(expected.get(row.get(2)), ByteBufUtil.hexDump(hello, offset, length), row::toString);
        }
        assertEquals(hello.readableBytes(), next);
        assertEquals(expected.size(), rows.size());
        String magic = rows.getFirst().get(3);
        assertTrue(magic.replace(" ", "").startsWith(expected.get("magic")), magic);
    }

    @Test
    void tellsWhereThePartsOfATagAre() throws IOException {
        Map<String, Long> parts = Map.of(
                "channel id", Tag.of(-1, 0, 0),
                "type", Tag.of(0, 15, 0),
                "value", Tag.of(0, 0, Tag.MAX_VALUE));
        for (List<String> row : table("bits", "field", "content")) {
            String[] bits = row.get(0).split("–");
            int high = Integer.parseInt(bits[0]);
            int low = Integer.parseInt(bits[1]);
            assertEquals(parts.get(row.get(1)), -1L >>> 63 - high & -1L << low, row::toString);
        }
    }

    @Test
    void tellsTheTypesOfMessages() throws IOException {
        Map<String, String> types = table("type", "name", "bytes", "value").stream()
                .collect(Collectors.toMap(row -> row.get(1), row -> row.get(0)));
        assertEquals(Map.of(
                "DATA", String.valueOf(Tag.DATA),
                "CREDIT", String.valueOf(Tag.CREDIT),
                "FIN", String.valueOf(Tag.FIN),
                "FIN_ACK", String.valueOf(Tag.FIN_ACK)), types);
    }

    // ------------------------------------------------------------------------------------------- arithmetic

    @Test
    void tellsWhenCreditIsGranted() throws IOException {
        assertTrue(Files.readString(PAGE).contains("`owed ≥ window / 4`"));
        open();
        port.deliver(Tag.DATA, 0, new byte[WINDOW / 4 - Outbound.MESSAGE_CHARGE]);
        read(WINDOW / 4 - Outbound.MESSAGE_CHARGE - 1);
        assertEquals(0, port.sent.size());
        read(1);
        assertEquals(Tag.of(PEER, Tag.CREDIT, WINDOW / 4), port.sent.getLast().tag());
    }

    /** A sender that waits has so little credit that a receiver that has read everything has to grant. */
    @ParameterizedTest
    @MethodSource("windows")
    void doesNotLetASenderWaitForEver(int window) {
        Outbound outbound = new Outbound(port, new Traffic());
        outbound.open(new Hello(Hello.VERSION, 0, 1, window, window));
        // The largest message that a sender may wait with, and the credit that it then has.
        int room = window / 8;
        while (outbound.isWorthwhile(room)) {
            room--;
        }
        int credit = room + Outbound.MESSAGE_CHARGE;
        assertTrue(credit < window / 8.0 + 64);
        assertTrue(window - credit > window / 8.0 * 7 - 64);
        assertTrue(window - credit >= window / 4);
    }

    static Stream<Integer> windows() {
        return Stream.of(Hello.MIN_WINDOW, Hello.MIN_WINDOW + 1, 65_535, 1 << 20, Hello.MAX_WINDOW);
    }

    // ------------------------------------------------------------------------------------------- violations

    static Stream<List<String>> violations() throws IOException {
        return table("violation", "message").stream();
    }

    @ParameterizedTest
    @MethodSource("violations")
    void tellsWhatIsSaidOfAViolation(List<String> row) {
        switch (row.get(0)) {
            case "a HELLO of another version" -> greetWith(8, 2);
            case "a HELLO of another length" -> greetWith(10, 72);
            default -> {
                open();
                violate(row.get(0));
            }
        }
        assertInstanceOf(ProtocolException.class, failure);
        String pattern = Pattern.quote(row.get(1)).replaceAll("\\bN\\b", "\\\\E[0-9]+\\\\Q");
        assertTrue(failure.getMessage().matches(pattern), failure.getMessage());
    }

    private void greetWith(int offset, int value) {
        byte[] bytes = hello(Hello.VERSION, UCX_1_22_0);
        bytes[offset] = (byte) (value >>> 8);
        bytes[offset + 1] = (byte) value;
        connection.start(port);
        port.poll();
        port.helloArrives(bytes);
        port.poll();
    }

    private void violate(String violation) {
        switch (violation) {
            case "a type that does not exist" -> port.deliver(9, 0);
            case "a control message with bytes" -> port.deliver(Tag.FIN, 0, text("bytes"));
            case "DATA without bytes, or with too many" -> port.deliver(Tag.DATA, 0);
            case "more DATA than there is credit for" -> {
                for (int i = 0; i < WINDOW / MAX_MESSAGE; i++) {
                    port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
                }
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
