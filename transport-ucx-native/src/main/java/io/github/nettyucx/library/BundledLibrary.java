// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
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
     * @param index  of the bundle
     * @param path   relative to that
     */
    record Entry(String name, byte[] sha256, URL index, String path) {

        /** All of it. */
        byte[] read() throws IOException, LibraryRejected {
            try {
                // Asked of the index's own place: to have a class loader look for each file takes long where it has many jars.
                return readAll(source());
            } catch (FileNotFoundException e) {
                throw new LibraryRejected("is incomplete: " + index + " lists " + path, e);
            }
        }

        /** With the handler of the index's, which no other way of making one has. */
        @SuppressWarnings("deprecation")
        URL source() throws IOException {
            return new URL(index, path);
        }
    }

    private static final int DIGEST_LENGTH = 64;
    private static final String SEPARATOR = "  ";
    private static final String SUBDIRECTORY = "ucx/";

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
            if (bytes.length == 0) {
                throw new LibraryRejected("is incomplete: " + index + " is empty");
            }
            UcxVersion version = null;
            List<Entry> entries = new ArrayList<>();
            for (String line : new String(bytes, StandardCharsets.UTF_8).split("\n")) {
                int path = DIGEST_LENGTH + SEPARATOR.length();
                int name = line.indexOf('/') + 1;
                Optional<UcxVersion> said = name <= path || !line.startsWith(SEPARATOR, DIGEST_LENGTH) ? Optional.empty()
                        : UcxVersion.parse(line.substring(path, name - 1));
                if (said.isEmpty() || !isName(line.substring(name))) {
                    throw new LibraryRejected("is damaged: " + index + " lists " + line);
                }
                version = said.get();
                entries.add(new Entry(line.substring(name),
                        HexFormat.of().parseHex(line, 0, DIGEST_LENGTH), index, line.substring(path)));
            }
            return new BundledLibrary(version, "ucx-" + version + "-" + checksum(bytes), List.copyOf(entries));
        } catch (IOException | IllegalArgumentException e) {
            throw new LibraryRejected("cannot be read from " + index + ": " + e, e);
        }
    }

    /** One that leads nowhere else. */
    private static boolean isName(String text) {
        int begin = text.startsWith(SUBDIRECTORY) ? SUBDIRECTORY.length() : 0;
        for (int i = begin; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean word = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_';
            if (!word && (i == begin || c != '.' && c != '-')) {
                return false;
            }
        }
        return begin < text.length();
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

    private static byte[] readAll(URL source) throws IOException {
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
