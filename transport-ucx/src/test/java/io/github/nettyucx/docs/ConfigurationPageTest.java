// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.library.UcxEnvironment;
import io.github.nettyucx.library.UcxVersion;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The tables of docs/configuration.md say what the code does. */
class ConfigurationPageTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getFileName().toString().equals("transport-ucx")
            ? Path.of("..") : Path.of(".");
    private static final Pattern FIRST_CELLS = Pattern.compile("\\| `([^`]+)` \\| ([^|]*) \\|.*");
    /** Names with a capital letter are those of flight recordings' events. */
    private static final Pattern PROPERTY = Pattern.compile("\"(io\\.github\\.nettyucx\\.[a-z][a-zA-Z.]+)\"");

    /** First column of the table under a heading → second column. */
    private static Map<String, String> table(String heading) throws IOException {
        Map<String, String> rows = new LinkedHashMap<>();
        boolean inside = false;
        for (String line : Files.readAllLines(ROOT.resolve("docs/configuration.md"))) {
            if (line.startsWith("## ")) {
                inside = line.equals("## " + heading);
            }
            Matcher matcher = FIRST_CELLS.matcher(line);
            if (inside && matcher.matches()) {
                rows.put(matcher.group(1), matcher.group(2).strip().replace("`", ""));
            }
        }
        assertTrue(!rows.isEmpty(), "no table under " + heading);
        return rows;
    }

    private static String shortName(ChannelOption<?> option) {
        return option.name().replaceFirst("^.*\\.(\\w+)#", "$1.");
    }

    @Test
    void namesEveryChannelOptionWithItsDefault() throws IOException {
        Set<String> nettys = new DefaultChannelConfig(new EmbeddedChannel()).getOptions().keySet().stream()
                .map(ChannelOption::name).collect(Collectors.toSet());
        Map<String, Object> ours = new LinkedHashMap<>();
        new UcxServerSocketChannel().config().getOptions().forEach((option, value) -> ours.put(shortName(option), value));
        new UcxSocketChannel().config().getOptions().forEach((option, value) -> ours.put(shortName(option), value));
        ours.keySet().removeAll(nettys);

        Map<String, String> documented = table("Channel options");
        assertEquals(String.valueOf(new UcxSocketChannel().config().getConnectTimeoutMillis()),
                documented.remove("CONNECT_TIMEOUT_MILLIS"));
        // Nobody is told what it is.
        assertEquals("none", documented.remove(shortName(UcxChannelOption.SHARED_SECRET)));
        assertEquals(new TreeSet<>(ours.keySet()), new TreeSet<>(documented.keySet()));
        documented.remove("SO_BACKLOG");
        documented.forEach((option, value) -> assertEquals(String.valueOf(ours.get(option)), value, option));
    }

    @Test
    void namesEverySystemPropertyThatTheCodeReads() throws IOException {
        Set<String> read = new TreeSet<>();
        for (String module : List.of("transport-ucx", "transport-ucx-native")) {
            try (Stream<Path> sources = Files.walk(ROOT.resolve(module + "/src/main/java"))) {
                for (Path source : sources.filter(path -> path.toString().endsWith(".java")).toList()) {
                    PROPERTY.matcher(Files.readString(source)).results().forEach(match -> read.add(match.group(1)));
                }
            }
        }
        Set<String> documented = new TreeSet<>(table("System properties").keySet());
        documented.remove("io.netty.transport.noNative");
        assertEquals(read, documented);
    }

    @Test
    void namesEverySettingOfUcxThatIsChanged() throws IOException {
        Map<String, String> documented = table("Settings of UCX");
        // What depends on the machine and the release.
        assertEquals("1m", documented.remove("UCX_RNDV_THRESH"));
        assertEquals("n", documented.remove("UCX_WARN_UNUSED_ENV_VARS"));
        assertEquals("empty", documented.remove("UCX_PLUGIN_PATH"));
        Map<String, String> made = new LinkedHashMap<>();
        UcxEnvironment.settings(UcxVersion.MINIMUM).forEach(
                setting -> made.put(setting.name(), setting.value().isEmpty() ? "empty" : setting.value()));
        assertEquals("inf", made.remove("UCX_RNDV_THRESH"));
        made.remove("UCX_WARN_UNUSED_ENV_VARS");
        assertEquals(made, documented);
    }

    @Test
    void saysWhichSettingsAreMadeWhateverTheUserHasExported() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/configuration.md"));
        Set<String> documented = page.lines().filter(line -> line.startsWith("| `UCX_") && line.contains("always"))
                .map(line -> line.split("`")[1]).collect(Collectors.toCollection(TreeSet::new));
        Set<String> mandatory = UcxEnvironment.settings(UcxVersion.MINIMUM).stream()
                .filter(UcxEnvironment.Setting::mandatory).map(UcxEnvironment.Setting::name)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(mandatory, documented);
    }
}
