// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The UCX releases that the build unpacks for tests. */
final class TestUcx {
    private static final List<String> LIBRARIES = List.of("libucp.so.0", "libuct.so.0", "libucs.so.0", "libucm.so.0");

    private TestUcx() {
    }

    /** Directory of the libraries of a release, {@code 1.16} or {@code 1.22}; skips the test where it was not to be had. */
    static Path directory(String release) {
        Path directory = Path.of(System.getProperty("io.github.nettyucx.test.ucx." + release));
        assumeTrue(Files.isDirectory(directory), () -> "the build could not download UCX " + release);
        return directory;
    }

    /** What a classifier jar of this platform holds, as a directory. */
    static Path classPathEntry() {
        try {
            String index = "META-INF/native/" + Platform.current().classifier() + "/ucx/SHA256SUMS";
            URL url = TestUcx.class.getClassLoader().getResource(index);
            assumeTrue(url != null, "the build could not download UCX");
            Path path = Path.of(URI.create(url.toString()));
            for (int i = Path.of(index).getNameCount(); i > 0; i--) {
                path = path.getParent();
            }
            return path;
        } catch (LibraryRejected e) {
            throw new AssertionError(e);
        }
    }

    /** Copies the UCX 1.16 libraries, or those named, into a directory. */
    static Path copy(Path target, String... names) {
        try {
            Files.createDirectories(target);
            for (String name : names.length == 0 ? LIBRARIES : List.of(names)) {
                Files.copy(directory("1.16").resolve(name), target.resolve(name));
            }
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A copy of UCX 1.16 that says to be of another version, given with as many characters. */
    static Path disguised(Path target, String version) {
        copy(target);
        Path library = target.resolve(SystemPlaces.SONAME);
        try {
            String contents = Files.readString(library, ISO_8859_1);
            Files.writeString(library, contents.replace("1.16.0\0", version + "\0"), ISO_8859_1);
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.sorted().toList();
        }
    }
}
