// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.release;

import org.junit.jupiter.api.Assumptions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A module whose jars users depend on: it is one if its build makes Javadoc.
 *
 * @param directory of the module
 * @param artifact  its id
 * @param version   of all modules
 */
record Published(Path directory, String artifact, String version) {

    static final Path ROOT = Path.of("").toAbsolutePath().getFileName().toString().equals("integration")
            ? Path.of("..") : Path.of(".");
    private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
    private static final Pattern IDENTITY = Pattern.compile(
            "<version>([^<]*)</version>\\s*</parent>\\s*<artifactId>([^<]*)</artifactId>");

    static List<Published> modules() {
        return directories().filter(Published::hasJavadoc).map(Published::of).toList();
    }

    /** The directories of all modules, published or not. */
    static Stream<Path> directories() {
        return MODULE.matcher(read(ROOT.resolve("pom.xml"))).results().map(match -> ROOT.resolve(match.group(1)));
    }

    static boolean hasJavadoc(Path module) {
        return read(module.resolve("pom.xml")).contains("<artifactId>maven-javadoc-plugin</artifactId>");
    }

    private static Published of(Path directory) {
        Matcher matcher = IDENTITY.matcher(read(directory.resolve("pom.xml")));
        if (!matcher.find()) {
            throw new AssertionError(directory + "/pom.xml has no artifactId after its parent");
        }
        return new Published(directory, matcher.group(2), matcher.group(1));
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A jar of the module.
     *
     * @param suffix {@code ""}, or a classifier with a hyphen before it
     */
    Path jar(String suffix) {
        Path jar = directory.resolve("target").resolve(artifact + "-" + version + suffix + ".jar");
        Assumptions.assumeTrue(Files.exists(jar), () -> jar + " has not been built: only a build of all modules does");
        return jar;
    }

    @Override
    public String toString() {
        return artifact;
    }
}
