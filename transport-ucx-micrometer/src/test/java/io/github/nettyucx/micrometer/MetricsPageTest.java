// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The meters in docs/metrics.md are those that there are, with their tags and units. */
class MetricsPageTest {

    private static final Path PAGE = (Path.of("").toAbsolutePath().endsWith("transport-ucx-micrometer")
            ? Path.of("..") : Path.of(".")).resolve("docs/metrics.md");
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `\\w+\\(\\w*\\)` \\| (\\w+) \\|.*\\| `([a-z.]+)(\\{.*})?` \\|$");
    private static final Pattern SIZE = Pattern.compile("(?m)^\\| `\\w+` \\| [^|]* \\| `(\\w+)` \\|$");
    private static final Set<String> SPELLED_OUT = Set.of("direction");

    /** Unit, name and tags; of the tags that the page does not spell out, only the keys. */
    private static String documented(MatchResult row) {
        String tags = row.group(3) == null ? "" : Arrays.stream(row.group(3).replaceAll("[{}]", "").split(", "))
                .sorted().collect(Collectors.joining(", "));
        return line(row.group(1).equals("bytes") ? "bytes" : null, row.group(2), tags);
    }

    private static String actual(Meter.Id id) {
        return line(id.getBaseUnit(), id.getName(), id.getTags().stream().map(MetricsPageTest::tag)
                .sorted().collect(Collectors.joining(", ")));
    }

    private static String tag(Tag tag) {
        return SPELLED_OUT.contains(tag.getKey()) ? tag.getKey() + '=' + tag.getValue() : tag.getKey();
    }

    private static String line(String unit, String name, String tags) {
        return name + '{' + tags + '}' + (unit == null ? "" : " in " + unit);
    }

    @Test
    @Timeout(120)
    void namesTheMeters() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (Conversation conversation = new Conversation()) {
            conversation.exchange(1);
            new UcxMetricsBinder(conversation.clients).bindTo(registry);
        }
        Set<String> there = registry.getMeters().stream().map(meter -> actual(meter.getId()))
                .collect(Collectors.toCollection(TreeSet::new));
        String page = Files.readString(PAGE);
        Set<String> documented = ROW.matcher(page).results().map(MetricsPageTest::documented)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(there, documented);

        Set<String> sizes = registry.find("netty.ucx.messages").meters().stream()
                .map(meter -> meter.getId().getTag("size")).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(sizes, SIZE.matcher(page).results().map(row -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new)));
        assertTrue(page.contains("`netty.ucx.connections`, are gauges"));
    }
}
