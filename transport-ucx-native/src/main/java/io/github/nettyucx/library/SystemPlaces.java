// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Where a UCX that is installed on the machine may be: where the dynamic linker would find it, in its order, and then
 * where UCX's distributors put it.
 *
 * <p>The linker is not asked itself, because asking it means loading the library that it finds, whatever its version.
 */
record SystemPlaces(Platform platform, Map<String, String> environment, String javaLibraryPath) {
    static final String SONAME = "libucp.so.0";

    private static final Path LINKER_CACHE = Path.of("/etc/ld.so.cache");
    private static final byte[] CACHE_MAGIC = "glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1);
    private static final int CACHE_HEADER_SIZE = 48;
    private static final int CACHE_ENTRY_SIZE = 24;

    /** The files that exist, best first, each file once even if several links lead to it. */
    List<Path> libraries() {
        Set<Path> candidates = new LinkedHashSet<>();
        addPath(candidates, environment.get("LD_LIBRARY_PATH"));
        for (String variable : List.of("HPCX_UCX_DIR", "UCX_HOME")) {
            String home = environment.get(variable);
            if (home != null && !home.isEmpty()) {
                addDirectory(candidates, home + "/lib");
            }
        }
        addPath(candidates, javaLibraryPath);
        addCached(candidates);
        for (String directory : wellKnownDirectories()) {
            addDirectory(candidates, directory);
        }
        List<Path> libraries = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        for (Path candidate : candidates) {
            try {
                if (seen.add(candidate.toRealPath())) {
                    libraries.add(candidate);
                }
            } catch (IOException notThere) {
                // Most places have no UCX; that is what searching is for.
            }
        }
        return libraries;
    }

    List<String> wellKnownDirectories() {
        String triplet = platform.triplet();
        return List.of("/usr/lib/" + triplet, "/lib/" + triplet, "/usr/lib64", "/lib64", "/usr/lib", "/lib",
                "/usr/local/lib", "/usr/local/lib64", "/opt/ucx/lib", "/opt/mellanox/ucx/lib", "/opt/hpcx/ucx/lib",
                "/opt/mellanox/hpcx/ucx/lib");
    }

    private static void addPath(Set<Path> candidates, String searchPath) {
        if (searchPath != null) {
            for (String directory : searchPath.split(File.pathSeparator)) {
                addDirectory(candidates, directory);
            }
        }
    }

    private static void addDirectory(Set<Path> candidates, String directory) {
        if (directory.isEmpty()) {
            return;
        }
        try {
            candidates.add(Path.of(directory).toAbsolutePath().normalize().resolve(SONAME));
        } catch (InvalidPathException e) {
            // A search path may hold anything; what isn't a path holds no library.
        }
    }

    private static void addCached(Set<Path> candidates) {
        try {
            candidates.addAll(readLinkerCache(ByteBuffer.wrap(Files.readAllBytes(LINKER_CACHE)), SONAME));
        } catch (IOException noCache) {
            // Not every Linux has one; the well-known directories follow.
        }
    }

    /** The paths that the linker's cache file (format glibc 1.1, in the machine's byte order) has for a soname. */
    static List<Path> readLinkerCache(ByteBuffer cache, String soname) {
        List<Path> paths = new ArrayList<>();
        int start = indexOf(cache.array(), CACHE_MAGIC);
        if (start < 0 || cache.capacity() - start < CACHE_HEADER_SIZE) {
            return paths;
        }
        ByteBuffer table = cache.slice(start, cache.capacity() - start).order(ByteOrder.nativeOrder());
        int entries = table.getInt(CACHE_MAGIC.length);
        // With the zero at its end.
        byte[] wanted = (soname + '\0').getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < entries; i++) {
            int entry = CACHE_HEADER_SIZE + i * CACHE_ENTRY_SIZE;
            if (entry < 0 || entry > table.capacity() - CACHE_ENTRY_SIZE) {
                break;
            }
            if (isAt(table, table.getInt(entry + 4), wanted)) {
                String path = string(table, table.getInt(entry + 8));
                if (path.startsWith("/")) {
                    paths.add(Path.of(path));
                }
            }
        }
        return paths;
    }

    /** Looks no further than to the first difference: the cache of a large system has thousands of names. */
    private static boolean isAt(ByteBuffer table, int offset, byte[] wanted) {
        if (offset < 0 || offset > table.capacity() - wanted.length) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (table.get(offset + i) != wanted[i]) {
                return false;
            }
        }
        return true;
    }

    private static String string(ByteBuffer table, int offset) {
        if (offset < 0 || offset >= table.capacity()) {
            return "";
        }
        int end = offset;
        while (end < table.capacity() && table.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - offset];
        table.get(offset, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static int indexOf(byte[] bytes, byte[] wanted) {
        for (int i = 0; i <= bytes.length - wanted.length; i++) {
            int matched = 0;
            while (matched < wanted.length && bytes[i + matched] == wanted[matched]) {
                matched++;
            }
            if (matched == wanted.length) {
                return i;
            }
        }
        return -1;
    }
}
