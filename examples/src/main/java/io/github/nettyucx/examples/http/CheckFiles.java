// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.TemporaryDirectory;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The files that {@link FileChecks} asks for, in a directory that goes with this object. Their names and sizes, and
 * with them their bytes, are known to the client as well.
 */
final class CheckFiles implements AutoCloseable {
    static final int SMALL = 200;
    static final String EMPTY = "empty.bin";
    static final String ODD = "a name & 100 %.bin";
    static final int ODD_SIZE = 1_000_003;
    static final String BIG = "big.bin";
    /** In the directory, but what it links to is outside. */
    static final String LINK = "link.txt";
    /** Beside the directory. */
    static final String SECRET = "secret.txt";

    private final TemporaryDirectory temporary;

    private CheckFiles(TemporaryDirectory temporary) {
        this.temporary = temporary;
    }

    static CheckFiles create(long bigSize) {
        try {
            var files = new CheckFiles(TemporaryDirectory.make(null, "netty-ucx-example-"));
            try {
                files.fill(bigSize);
                return files;
            } catch (IOException | RuntimeException e) {
                files.close();
                throw e;
            }
        } catch (IOException e) {
            throw new ExampleFailure("cannot write the files to be served: " + e.getMessage(), e);
        }
    }

    Path directory() {
        return temporary.path().resolve("files");
    }

    /** Their names, and how many bytes they have. */
    static Map<String, Long> sizes(long bigSize) {
        var sizes = new LinkedHashMap<String, Long>();
        sizes.put(EMPTY, 0L);
        sizes.put("one.bin", 1L);
        sizes.put(ODD, (long) ODD_SIZE);
        sizes.put(BIG, bigSize);
        for (var i = 0; i < SMALL; i++) {
            sizes.put(small(i), smallSize(i));
        }
        return sizes;
    }

    static String small(int index) {
        return "small/" + index + ".txt";
    }

    static long smallSize(int index) {
        return 1 + index * 37L % 4096;
    }

    private void fill(long bigSize) throws IOException {
        Files.createDirectories(directory().resolve("small"));
        for (var file : sizes(bigSize).entrySet()) {
            try (var out = new BufferedOutputStream(Files.newOutputStream(directory().resolve(file.getKey())))) {
                new SeededContent(file.getKey()).write(out, file.getValue());
            }
        }
        var secret = temporary.path().resolve(SECRET);
        Files.writeString(secret, "not for clients");
        Files.createSymbolicLink(directory().resolve(LINK), secret);
    }

    /** Safe from any thread, and more than once. */
    @Override
    public void close() {
        temporary.close();
    }
}
