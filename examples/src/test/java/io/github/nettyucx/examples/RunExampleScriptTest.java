// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script that starts the examples, as far as it does not build. */
class RunExampleScriptTest {
    private static final Path SCRIPT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("run-example.sh");
    private static final Pattern ENTRY =
            Pattern.compile("^  '([a-z-]+)\\|([\\w.]+)\\|([^|]+)\\|(plain)?'$", Pattern.MULTILINE);

    @Test
    void listsTheExamplesWhenThereIsNoName() throws Exception {
        assertListed(run(2));
    }

    @Test
    void listsTheExamplesWhenAskedForHelp() throws Exception {
        assertListed(run(0, "--help"));
    }

    @Test
    void listsTheExamplesWhenTheNameIsUnknown() throws Exception {
        var text = run(2, "pong");
        assertTrue(text.startsWith("run-example.sh: there is no example named 'pong'."), text);
        assertListed(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Dx=y", "-Xmx1g", "-XX:+UseSerialGC", "-javaagent:x", "-javaagent:x=report", "-agentlib:x",
            "-ea", "-ea:x", "-enableassertions", "-da", "-esa", "-verbose:gc", "--add-opens=x", "--enable-preview"})
    void takesOptionsOfTheJvmInFrontOfTheName(String option) throws Exception {
        var text = run(2, option, "-Da=b", "pong");
        assertTrue(text.startsWith("run-example.sh: there is no example named 'pong'."), text);
    }

    @Test
    void tellsAboutExamplesThatTakeNoArguments() throws Exception {
        for (var entry : entries()) {
            if (entry.group(4) != null) {
                var help = run(0, entry.group(1), "--help");
                assertTrue(help.contains(entry.group(3)), help);
                var text = run(2, entry.group(1), "--fast");
                assertTrue(text.startsWith("run-example.sh: " + entry.group(1) + " takes no arguments"), text);
            }
        }
    }

    @Test
    void namesClassesThatCanBeStarted() throws Exception {
        for (var entry : entries()) {
            var main = Class.forName(entry.group(2)).getMethod("main", String[].class);
            assertTrue(Modifier.isStatic(main.getModifiers()), entry.group(2));
        }
    }

    private static void assertListed(String text) throws Exception {
        for (var entry : entries()) {
            assertTrue(text.lines().anyMatch(line ->
                    line.startsWith("  " + entry.group(1) + " ") && line.endsWith(entry.group(3))), text);
        }
    }

    private static List<MatchResult> entries() throws Exception {
        var entries = ENTRY.matcher(Files.readString(SCRIPT)).results().toList();
        assertFalse(entries.isEmpty());
        return entries;
    }

    private static String run(int expectedExitCode, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(SCRIPT.toString()));
        command.addAll(List.of(arguments));
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(expectedExitCode, process.waitFor(), text);
        return text;
    }
}
