// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/transparent.md names each jar that applications are run on with the agent, with its release, and each test. */
class TransparentPageTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getFileName().toString().equals("integration")
            ? Path.of("..") : Path.of(".");
    private static final Pattern PROPERTY = Pattern.compile("<([\\w.-]+)>([^<$]+)</\\1>");
    private static final Pattern EXECUTION = Pattern.compile("(?s)<execution>\\s*<id>([^<]+)</id>(.*?)</execution>");
    private static final Pattern ITEM =
            Pattern.compile("<artifactItem>.*?<artifactId>([^<]+)</artifactId><version>(?:\\$\\{)?([^<}]+)}?</version>");
    /** In Maven's repository: artifact, release, jar. */
    private static final Pattern JAR = Pattern.compile(".*/([^/]+)/([^/]+)/[^/]+\\.jar");

    private static String page() throws IOException {
        return Files.readString(ROOT.resolve("docs/transparent.md"));
    }

    /** Below a heading: the first column, without its quotes, and the second. */
    private static Map<String, String> table(String heading) throws IOException {
        String section = page().split("(?m)^#+ " + heading + "$", 2)[1].split("(?m)^#", 2)[0];
        Map<String, String> rows = new TreeMap<>();
        section.lines().filter(line -> line.startsWith("| `")).map(line -> line.split(" *\\| *"))
                .forEach(cells -> rows.put(cells[1].replace("`", ""), cells[2]));
        assertTrue(!rows.isEmpty(), "no table below " + heading);
        return rows;
    }

    /** {@code `a`, `b` 1.0; `c` 2.0} as {@code a 1.0}, {@code b 1.0}, {@code c 2.0}. */
    private static Set<String> jars(String cell) {
        Set<String> jars = new TreeSet<>();
        for (String release : cell.split("; ")) {
            String number = release.substring(release.lastIndexOf(' '));
            Pattern.compile("`([^`]+)`").matcher(release).results().forEach(name -> jars.add(name.group(1) + number));
        }
        return jars;
    }

    private static String withoutSuffix(String release) {
        return release.replaceFirst("\\.(Final|RELEASE)$", "");
    }

    /** What the build lays down for applications, by the name of the execution that does it. */
    private static Map<String, Set<String>> laidDown() throws IOException {
        Map<String, String> properties = new HashMap<>();
        Map<String, Set<String>> applications = new TreeMap<>();
        for (String module : List.of("", "agent", "integration")) {
            String pom = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
            PROPERTY.matcher(pom).results().forEach(match -> properties.put(match.group(1), match.group(2)));
            EXECUTION.matcher(pom).results().forEach(execution -> {
                Set<String> items = ITEM.matcher(execution.group(2)).results().map(item -> item.group(1) + ' '
                        + withoutSuffix(properties.getOrDefault(item.group(2), item.group(2))))
                        .collect(Collectors.toCollection(TreeSet::new));
                if (!items.isEmpty()) {
                    applications.put(execution.group(1), items);
                }
            });
        }
        return applications;
    }

    private static Set<String> ofClassPath(List<Path> classPath) {
        return classPath.stream().map(jar -> JAR.matcher(jar.toString())).filter(Matcher::matches)
                .map(jar -> jar.group(1) + ' ' + withoutSuffix(jar.group(2))).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void namesEachJarThatApplicationsAreRunOn() throws IOException {
        Map<String, Set<String>> expected = laidDown();
        expected.put("grpc", ofClassPath(GrpcShadedTest.CLASS_PATH));
        expected.put("ratis", ofClassPath(RatisTest.CLASS_PATH));
        expected.get("zookeeper").addAll(ofClassPath(JavaProcess.classPath("/org/slf4j/")));
        Map<String, Set<String>> documented = new TreeMap<>();
        table("The jars").forEach((application, cell) -> documented.put(application, jars(cell)));
        assertEquals(expected.keySet(), documented.keySet());
        expected.forEach((application, jars) -> assertEquals(jars, documented.get(application), application));
    }

    @Test
    void namesEachTestOfAnApplication() throws IOException {
        String page = page();
        try (Stream<Path> sources = Files.list(ROOT.resolve("integration/src/test/java/io/github/nettyucx/integration/agent"))) {
            List<String> missing = sources.map(source -> source.getFileName().toString().replace(".java", ""))
                    .filter(name -> name.endsWith("Test") && !name.equals(TransparentPageTest.class.getSimpleName()))
                    .filter(name -> !page.contains('`' + name + '`')).toList();
            assertEquals(List.of(), missing);
        }
    }
}
