// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import io.github.nettyucx.socket.Errno;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Whoever searches docs/troubleshooting.md for the message that he sees finds it. */
class TroubleshootingPageTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().endsWith("transport-ucx")
            ? Path.of("..") : Path.of(".");
    private static final String NATIVE_SECTION = "## UCX's own lines";
    private static final Pattern MESSAGE = Pattern.compile("^\\| `([^`]+)`", Pattern.MULTILINE);
    private static final Pattern FIRST_COLUMN = Pattern.compile("^\\| ([^|]+) \\|", Pattern.MULTILINE);
    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
    private static final List<String> MODULES =
            List.of("transport-ucx", "transport-ucx-native", "transport-ucx-io", "agent");
    private static final Pattern JOINED_LITERALS = Pattern.compile("\"\\s*\\+\\s*\"");
    /** What may stand between two parts of a message, of which the code knows one only when it is run. */
    private static final int LONGEST_GAP = 200;
    private static final int SHORTEST_PROOF = 12;
    /** Of Linux. */
    private static final int LAST_ERRNO = 133;

    private static final String LITERAL_OF_JAVA = "\"((?:[^\"\\\\]|\\\\.)*)\"";
    private static final Pattern LITERAL = Pattern.compile(LITERAL_OF_JAVA);
    private static final String REST_OF_STATEMENT = "((?:" + LITERAL_OF_JAVA + "|[^\";])*;)";
    /** What is logged for everybody to see. */
    private static final Pattern LOGGED = Pattern.compile(
            "(?:logger\\.(?:warn|info|error)\\(|\\.log\\([^\";]*?Level\\.(?:WARNING|INFO|ERROR),)" + REST_OF_STATEMENT);
    /** Why a connection does not have a lane. */
    private static final Pattern REASON = Pattern.compile(
            "(?:new LinkException\\(|unavailable\\(|turnFromLane\\(|\\breturn |reasons\\.add\\()" + REST_OF_STATEMENT);
    /** Nothing is wrong, and nothing to be done. */
    private static final Set<String> NO_TROUBLE = Set.of("Using ….");
    /** Of other messages. */
    private static final Set<String> PARTS = Set.of("an unknown one", "the client does not offer ");

    private static List<String> messages(String part) {
        List<String> messages = MESSAGE.matcher(part).results().map(found -> found.group(1)).toList();
        assertTrue(messages.size() >= 5, () -> "found only " + messages);
        return messages;
    }

    private static String[] page() throws IOException {
        String[] parts = Files.readString(ROOT.resolve("docs/troubleshooting.md")).split(Pattern.quote(NATIVE_SECTION));
        assertEquals(2, parts.length);
        return parts;
    }

    private static List<String> sources() throws IOException {
        List<String> sources = new ArrayList<>();
        for (String module : MODULES) {
            try (var files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    sources.add(JOINED_LITERALS.matcher(Files.readString(file)).replaceAll(""));
                }
            }
        }
        // Those of system calls' errors are the C library's.
        IntStream.rangeClosed(1, LAST_ERRNO).mapToObj(Errno::text).forEach(sources::add);
        return sources;
    }

    @Test
    void quotesMessagesThatTheSourcesHave() throws IOException {
        List<String> sources = sources();
        for (String message : messages(page()[0])) {
            List<String> parts = parts(message);
            assertTrue(longest(parts) >= SHORTEST_PROOF, message);
            assertTrue(sources.stream().anyMatch(source -> has(source, parts)), () -> "no source says: " + message);
        }
    }

    // ------------------------------------------------------------------------------------------- the other way round

    /** What a statement says, with … for what only the running code knows; empty if that is all of it. */
    private static String text(String statement) {
        String text = LITERAL.matcher(statement).results().map(literal -> literal.group(1))
                .collect(Collectors.joining("…")).replaceAll("\\{\\d?}", "…");
        return longest(parts(text)) < SHORTEST_PROOF && !NO_TROUBLE.contains(text) ? "" : text;
    }

    private static List<String> said(Pattern statements, List<String> sources) {
        return sources.stream().flatMap(source -> statements.matcher(source).results())
                .map(found -> text(found.group(1))).filter(text -> !text.isEmpty()).toList();
    }

    private static void assertOnThePage(List<String> said, Set<String> exceptions) throws IOException {
        // Not what is quoted elsewhere, such as an option that helps, and that many messages name.
        List<List<String>> page = FIRST_COLUMN.matcher(page()[0]).results()
                .flatMap(row -> QUOTED.matcher(row.group(1)).results()).map(found -> parts(found.group(1)))
                .filter(parts -> longest(parts) >= SHORTEST_PROOF).toList();
        assertEquals(List.of(), said.stream().filter(text -> !exceptions.contains(text)
                && page.stream().noneMatch(parts -> has(text, parts))).toList());
        assertTrue(said.containsAll(exceptions), () -> "what nothing says is no exception: " + exceptions);
    }

    @Test
    void hasWhatIsLoggedForEverybodyToSee() throws IOException {
        List<String> said = said(LOGGED, sources());
        assertTrue(said.size() >= 30, () -> "found only " + said);
        assertOnThePage(said, NO_TROUBLE);
    }

    @Test
    void hasWhyThereIsNoBetterLane() throws IOException {
        List<String> said = new ArrayList<>();
        for (String file : List.of("handshake/LaneChoice", "handshake/Terms", "handshake/ClientHandshake", "lane/UcxLinks",
                "lane/LinkTable", "lane/LinkFailures", "lane/LinkWorkers", "lane/Crossing", "lane/ServingLinks")) {
            said.addAll(said(REASON, List.of(JOINED_LITERALS.matcher(Files.readString(ROOT.resolve(
                    "transport-ucx/src/main/java/io/github/nettyucx/" + file + ".java"))).replaceAll(""))));
        }
        assertTrue(said.size() >= 10, () -> "found only " + said);
        assertOnThePage(said, PARTS);
    }

    private static List<String> parts(String message) {
        return Arrays.stream(message.split("…")).map(String::strip).filter(part -> !part.isEmpty()).toList();
    }

    private static int longest(List<String> parts) {
        return parts.stream().mapToInt(String::length).max().orElse(0);
    }

    private static boolean has(String source, List<String> parts) {
        String first = parts.getFirst();
        for (int start = source.indexOf(first); start >= 0; start = source.indexOf(first, start + 1)) {
            if (follow(source, start, parts)) {
                return true;
            }
        }
        return false;
    }

    private static boolean follow(String source, int start, List<String> parts) {
        int end = start + parts.getFirst().length();
        for (String part : parts.subList(1, parts.size())) {
            int found = source.indexOf(part, end);
            if (found < 0 || found - end > LONGEST_GAP) {
                return false;
            }
            end = found + part.length();
        }
        return true;
    }

    /** Those of UCX have to be in the libraries that are bundled. */
    @Test
    void quotesMessagesThatUcxHas() throws IOException {
        Path natives = ROOT.resolve("transport-ucx-native/target/natives");
        assumeTrue(Files.exists(natives), "UCX has not been downloaded");
        StringBuilder libraries = new StringBuilder();
        try (var files = Files.walk(natives)) {
            for (Path file : files.filter(path -> path.getFileName().toString().contains(".so")).toList()) {
                libraries.append(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        assumeTrue(!libraries.isEmpty(), "UCX has not been downloaded");
        for (String message : messages(page()[1])) {
            assertTrue(libraries.indexOf(message) >= 0, () -> "no library says: " + message);
        }
    }
}
