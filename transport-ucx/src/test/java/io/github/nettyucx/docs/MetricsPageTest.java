// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import io.github.nettyucx.channel.UcxMetrics;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxTraffic;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.SizeClass;
import io.github.nettyucx.worker.Preparation;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.SettingDescriptor;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The tables of docs/metrics.md say what the code does; those of Micrometer are tested where the meters are. */
class MetricsPageTest {

    private static final Path PAGE = (Path.of("").toAbsolutePath().endsWith("transport-ucx")
            ? Path.of("..") : Path.of(".")).resolve("docs/metrics.md");
    private static final Set<String> OF_EACH_EVENT = Set.of("startTime", "duration", "eventThread", "stackTrace");

    /** The rows of all tables under a heading with this header, without backquotes. */
    private static List<List<String>> table(String heading, String... header) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        boolean there = false;
        boolean inside = false;
        for (String line : Files.readAllLines(PAGE)) {
            if (line.startsWith("## ")) {
                there = line.equals("## " + heading);
            }
            if (!there || !line.startsWith("|")) {
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
        assertFalse(rows.isEmpty(), () -> "no table of " + List.of(header) + " under " + heading);
        return rows;
    }

    private static Set<String> firstColumn(List<List<String>> rows) {
        Set<String> cells = rows.stream().map(List::getFirst).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(rows.size(), cells.size(), () -> "something is there twice: " + rows);
        return cells;
    }

    private static Set<String> counts(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getReturnType() == long.class)
                .map(MetricsPageTest::signature).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String signature(Method method) {
        return method.getName() + '(' + Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName)
                .collect(Collectors.joining(", ")) + ')';
    }

    private static Set<String> names(Enum<?>[] constants) {
        return Arrays.stream(constants).map(Enum::name).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void namesEveryCountOfAConnection() throws IOException {
        assertEquals(counts(UcxTraffic.class),
                firstColumn(table("Connections and lanes", "method", "unit", "meaning", "Micrometer")));
    }

    @Test
    void namesEveryCountOfALoop() throws IOException {
        assertEquals(counts(UcxMetrics.class), firstColumn(table("Loops", "method", "unit", "meaning", "Micrometer")));
    }

    @Test
    void tellsTheSizes() throws IOException {
        Map<String, String> sizes = table("Connections and lanes", "size", "up to", "tag").stream()
                .collect(Collectors.toMap(List::getFirst, row -> row.get(1)));
        assertEquals("–", sizes.remove(SizeClass.LARGER.name()));
        assertEquals(SizeClass.values().length - 1, sizes.size());
        sizes.forEach((name, limit) -> assertEquals(String.valueOf(SizeClass.valueOf(name).limit()), limit, name));
    }

    @Test
    void namesEveryReason() throws IOException {
        Set<String> documented = firstColumn(table("Loops", "reason", "meaning").stream()
                // The one that both tables have.
                .filter(row -> !row.equals(List.of("PROTOCOL_VIOLATION", "the peer broke the protocol"))).toList());
        Set<String> expected = names(HandshakeFailure.values());
        expected.addAll(names(CloseReason.values()));
        assertEquals(expected, documented);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ConnectionOpened", "ConnectionClosed", "HandshakeFailed", "LoopParked"})
    void tellsOfEachEvent(String name) throws Exception {
        EventType type = EventType.getEventType(Class.forName(
                "io.github.nettyucx.channel.FlightEvents$" + name).asSubclass(Event.class));
        List<String> row = table("Flight recordings", "event", "when", "on by default", "fields").stream()
                .filter(cells -> cells.getFirst().equals(type.getName())).findFirst().orElseThrow();
        String enabled = type.getSettingDescriptors().stream().filter(setting -> setting.getName().equals("enabled"))
                .map(SettingDescriptor::getDefaultValue).findFirst().orElseThrow();
        assertEquals(enabled.equals("true") ? "yes" : "no", row.get(2));
        assertEquals(type.getFields().stream().map(ValueDescriptor::getName)
                .filter(field -> !OF_EACH_EVENT.contains(field)).collect(Collectors.joining(", ")), row.get(3));
    }

    @Test
    void tellsOfNoOtherEvent() throws Exception {
        long events = Arrays.stream(Class.forName("io.github.nettyucx.channel.FlightEvents").getDeclaredClasses())
                .filter(Event.class::isAssignableFrom).count();
        assertEquals(events, table("Flight recordings", "event", "when", "on by default", "fields").size());
    }

    @Test
    void tellsWhoLogs() throws IOException {
        String page = Files.readString(PAGE);
        assertTrue(page.contains('`' + UcxSocketChannel.class.getName() + '`'));
        assertTrue(page.contains('`' + Preparation.class.getName() + '`'));
    }
}
