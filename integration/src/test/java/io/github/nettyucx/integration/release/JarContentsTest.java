// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.release;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static io.github.nettyucx.integration.release.Published.ROOT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The jars that are published hold what they should: classes, sources, Javadoc, licences, names. */
class JarContentsTest {

    private static final String PACKAGES = "io/github/nettyucx/";

    static List<Published> modules() {
        return Published.modules();
    }

    private static Set<String> files(JarFile jar) {
        return jar.stream().filter(entry -> !entry.isDirectory()).map(entry -> entry.getName())
                .collect(Collectors.toSet());
    }

    private static byte[] content(JarFile jar, String name) throws IOException {
        assertNotNull(jar.getEntry(name), () -> jar.getName() + " has no " + name);
        try (InputStream stream = jar.getInputStream(jar.getEntry(name))) {
            return stream.readAllBytes();
        }
    }

    private static void assertLicensed(JarFile jar) throws IOException {
        for (String name : List.of("LICENSE", "NOTICE")) {
            assertArrayEquals(Files.readAllBytes(ROOT.resolve(name)), content(jar, "META-INF/" + name),
                    () -> "META-INF/" + name + " of " + jar.getName());
        }
    }

    private static String moduleName(JarFile jar) throws IOException {
        String name = jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name");
        assertTrue(name != null && name.startsWith("io.github.nettyucx."), () -> jar.getName() + ": " + name);
        return name;
    }

    @Test
    void thereAreSome() {
        assertTrue(modules().size() >= 2, () -> modules().toString());
    }

    /** All but the BOM have jars; what has no Javadoc is for this build only. */
    @Test
    void mvnDeployLeavesOutWhatIsNotPublished() {
        List<Path> leftOut = Published.directories().filter(module -> !module.endsWith("bom"))
                .filter(module -> !Published.hasJavadoc(module)).toList();
        assertFalse(leftOut.isEmpty());
        for (Path module : leftOut) {
            assertTrue(Published.read(module.resolve("pom.xml")).contains("<maven.deploy.skip>true</maven.deploy.skip>"),
                    () -> module + " would be published");
        }
        // What a module attaches is published with it.
        for (Path pom : Stream.concat(Stream.of(ROOT), modules().stream().map(Published::directory))
                .map(module -> module.resolve("pom.xml")).toList()) {
            assertFalse(Published.read(pom).contains("<goal>test-jar</goal>"), () -> pom + " would publish tests");
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void classes(Published module) throws IOException {
        try (JarFile jar = new JarFile(module.jar("").toFile())) {
            assertLicensed(jar);
            Attributes manifest = jar.getManifest().getMainAttributes();
            assertEquals(module.version(), manifest.getValue(Attributes.Name.IMPLEMENTATION_VERSION));
            assertTrue(manifest.getValue(Attributes.Name.IMPLEMENTATION_TITLE).startsWith("Netty UCX :: "));
            moduleName(jar);
            Set<String> classes = files(jar);
            classes.removeIf(name -> !name.endsWith(".class"));
            assertFalse(classes.isEmpty());
            for (String name : classes) {
                assertTrue(name.startsWith(PACKAGES) && !name.endsWith("Test.class"), name);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void sources(Published module) throws IOException {
        try (JarFile jar = new JarFile(module.jar("").toFile());
                JarFile sources = new JarFile(module.jar("-sources").toFile())) {
            assertLicensed(sources);
            Set<String> expected = files(jar).stream().filter(name -> name.endsWith(".class") && !name.contains("$"))
                    .map(name -> name.replaceFirst("\\.class$", ".java")).collect(Collectors.toSet());
            Set<String> found = files(sources);
            found.removeIf(name -> !name.endsWith(".java"));
            expected.removeAll(found);
            assertEquals(Set.of(), expected, "classes without a source");
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void javadoc(Published module) throws IOException {
        try (JarFile jar = new JarFile(module.jar("-javadoc").toFile())) {
            assertLicensed(jar);
            content(jar, "index.html");
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void theBomHasIt(Published module) {
        assertTrue(Published.read(ROOT.resolve("bom/pom.xml")).contains(
                "<artifactId>" + module.artifact() + "</artifactId>"), () -> "bom/pom.xml has no " + module);
    }

    @Test
    void moduleNamesDiffer() throws IOException {
        Set<String> names = new HashSet<>();
        for (Published module : modules()) {
            try (JarFile jar = new JarFile(module.jar("").toFile())) {
                assertTrue(names.add(moduleName(jar)), () -> module.toString());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"netty-transport-native-ucx", "netty-transport-ucx"})
    void whatNativeImageHasToKnow(String artifact) throws IOException {
        Published module = modules().stream().filter(each -> each.artifact().equals(artifact)).findFirst().orElseThrow();
        try (JarFile jar = new JarFile(module.jar("").toFile())) {
            content(jar, "META-INF/native-image/io.github.netty-ucx/" + artifact + "/reachability-metadata.json");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"linux-x86_64", "linux-aarch_64"})
    void natives(String classifier) throws Exception {
        Published module = modules().stream().filter(each -> each.artifact().equals("netty-transport-native-ucx"))
                .findFirst().orElseThrow();
        assumeTrue(Files.exists(module.directory().resolve("target/natives").resolve(classifier).resolve("META-INF")),
                "this build had no UCX to bundle");
        try (JarFile jar = new JarFile(module.jar("-" + classifier).toFile())) {
            assertLicensed(jar);
            moduleName(jar);
            String ucx = "META-INF/native/" + classifier + "/ucx/";
            Path licence = ROOT.resolve("transport-ucx-native/src/build/UCX-LICENSE");
            assertArrayEquals(Files.readAllBytes(licence), content(jar, ucx + "LICENSE"));
            content(jar, ucx + "LICENSE.wheel");
            Set<String> libraries = files(jar);
            libraries.removeIf(name -> !name.contains(".so"));
            for (String line : new String(content(jar, ucx + "SHA256SUMS")).lines().toList()) {
                String[] digestAndName = line.split("  ", 2);
                byte[] library = content(jar, ucx + digestAndName[1]);
                assertEquals(digestAndName[0],
                        HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(library)), line);
                assertTrue(libraries.remove(ucx + digestAndName[1]));
            }
            assertEquals(Set.of(), libraries, "libraries that the index does not have");
        }
    }
}
