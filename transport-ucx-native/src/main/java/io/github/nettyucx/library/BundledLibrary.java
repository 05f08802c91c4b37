// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * The UCX in a classifier jar of this project, as its index describes it.
 *
 * <p>The index is a file in the format of {@code sha256sum}, at {@code META-INF/native/<classifier>/ucx/SHA256SUMS};
 * its paths start with UCX's version and are relative to the index.
 *
 * @param directoryName names the contents: another build of the same version gets a directory of its own
 */
record BundledLibrary(UcxVersion version, String directoryName, List<BundledLibrary.Entry> entries) {
    static final String ARTIFACT = "io.github.netty-ucx:netty-transport-native-ucx";

    /**
     * One file of the bundle.
     *
     * @param name   path below the version's directory, with slashes
     * @param sha256 its digest
     * @param source where to read it
     */
    record Entry(String name, byte[] sha256, URL source) {
    }

    private static final Pattern LINE = Pattern.compile("([0-9a-f]{64})  (\\d+\\.\\d+\\.\\d+)/((?:ucx/)?\\w[\\w.-]*)");

    /** Looks for the bundle of this platform on the class path. */
    static BundledLibrary find(Platform platform, ClassLoader loader) throws LibraryRejected {
        String root = "META-INF/native/" + platform.classifier() + "/ucx/";
        URL index = loader.getResource(root + "SHA256SUMS");
        if (index == null) {
            throw new LibraryRejected("is not on the class path; add the artifact " + ARTIFACT + " with the classifier "
                    + platform.classifier());
        }
        try {
            byte[] bytes = readAll(index);
            UcxVersion version = null;
            List<Entry> entries = new ArrayList<>();
            for (String line : new String(bytes, StandardCharsets.UTF_8).lines().toList()) {
                Matcher matcher = LINE.matcher(line);
                URL source = matcher.matches()
                        ? loader.getResource(root + matcher.group(2) + "/" + matcher.group(3))
                        : null;
                if (source == null) {
                    throw new LibraryRejected("is incomplete: " + index + " lists " + line);
                }
                version = UcxVersion.parse(matcher.group(2)).orElseThrow();
                entries.add(new Entry(matcher.group(3), HexFormat.of().parseHex(matcher.group(1)), source));
            }
            if (version == null) {
                throw new LibraryRejected("is incomplete: " + index + " is empty");
            }
            return new BundledLibrary(version, "ucx-" + version + "-" + checksum(bytes), List.copyOf(entries));
        } catch (IOException e) {
            throw new LibraryRejected("cannot be read from " + index + ": " + e, e);
        }
    }

    /**
     * Tells builds apart. Not by a digest: in a JVM that has just started the JDK takes longer to find its SHA-256 than all
     * of the search for a library does. Two builds with the same number would replace each other's files.
     */
    private static String checksum(byte[] index) {
        CRC32 crc = new CRC32();
        crc.update(index);
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }

    static byte[] readAll(URL source) throws IOException {
        // No URL cache: a cached jar file would stay open, and would survive the replacement of the jar.
        var connection = source.openConnection();
        connection.setUseCaches(false);
        try (InputStream in = connection.getInputStream()) {
            return in.readAllBytes();
        }
    }

    /** Makes the files available below a directory of this user's, and returns the libucp. */
    Path extract(Path base) throws LibraryRejected {
        return ExtractionDirectory.extract(this, base).resolve(SystemPlaces.SONAME);
    }
}
