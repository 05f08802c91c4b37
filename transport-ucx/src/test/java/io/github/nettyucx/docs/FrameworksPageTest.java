// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The snippets of docs/frameworks.md stand, line by line, in the sources that a comment before each of them names,
 * where they are compiled and run.
 */
class FrameworksPageTest {

    private static final Path ROOT = Path.of(Files.exists(Path.of("docs")) ? "." : "..");
    private static final Pattern SNIPPET =
            Pattern.compile("<!-- from (\\S+) -->\\n```java\\n(.*?)\\n```\\n", Pattern.DOTALL);
    private static final Pattern JAVA = Pattern.compile("^```java$", Pattern.MULTILINE);

    private static final Pattern VERSION = Pattern.compile(
            "<(?:grpc|grpc42|reactor-netty|vertx|cassandra-driver)\\.version>(.*?)</");

    /** Without indentation and empty lines. */
    private static String lines(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty())
                .collect(Collectors.joining("\n", "\n", "\n"));
    }

    @Test
    void snippetsAreTakenFromCodeThatIsRun() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/frameworks.md"));
        Matcher matcher = SNIPPET.matcher(page);
        List<MatchResult> snippets = matcher.results().toList();
        assertEquals(JAVA.matcher(page).results().count(), snippets.size(), "snippets that do not say where from");
        assertTrue(snippets.size() > 2, "the page has lost its snippets");
        for (MatchResult snippet : snippets) {
            String source = lines(Files.readString(ROOT.resolve(snippet.group(1))));
            assertTrue(source.contains(lines(snippet.group(2))),
                    () -> snippet.group(1) + " does not have this:\n" + snippet.group(2));
        }
    }

    @Test
    void versionsAreThoseOfTheBuild() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/frameworks.md"));
        List<MatchResult> versions = VERSION.matcher(Files.readString(ROOT.resolve("pom.xml"))).results().toList();
        assertEquals(5, versions.size());
        for (MatchResult version : versions) {
            assertTrue(page.contains(" " + version.group(1)), () -> "the page has no " + version.group());
        }
    }
}
