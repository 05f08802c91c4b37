// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemPlacesTest {
    @TempDir
    Path temporary;

    private Path library(String directory) throws Exception {
        Path library = temporary.resolve(directory).resolve(SystemPlaces.SONAME);
        Files.createDirectories(library.getParent());
        return Files.createFile(library);
    }

    private List<Path> search(Map<String, String> environment, String javaLibraryPath) throws Exception {
        return new SystemPlaces(Platform.current(), environment, javaLibraryPath).libraries().stream()
                .filter(path -> path.startsWith(temporary)).toList();
    }

    @Test
    void asksTheLinkersPathFirstThenTheVariablesThenJavasPath() throws Exception {
        Path linker = library("linker");
        Path hpcx = library("hpcx/lib");
        Path home = library("home/lib");
        Path java = library("java");
        Map<String, String> environment = Map.of("HPCX_UCX_DIR", temporary + "/hpcx", "UCX_HOME", temporary + "/home",
                "LD_LIBRARY_PATH", ":" + temporary + "/empty:" + temporary + "/linker");
        assertEquals(List.of(linker, hpcx, home, java), search(environment, temporary + "/java"));
    }

    @Test
    void namesALibraryOnceHoweverManyWaysLeadToIt() throws Exception {
        Path library = library("real");
        Files.createSymbolicLink(temporary.resolve("link"), temporary.resolve("real"));
        Map<String, String> environment = Map.of("LD_LIBRARY_PATH", temporary + "/real:" + temporary + "/link");
        assertEquals(List.of(library), search(environment, temporary + "/real"));
    }

    @Test
    void bearsAnySearchPath() throws Exception {
        assertEquals(List.of(), search(Map.of("LD_LIBRARY_PATH", "::\0:relative:", "UCX_HOME", ""), null));
    }

    @Test
    void readsTheLinkersCache() throws Exception {
        byte[] older = "ld.so-1.7.0\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);
        for (byte[] prefix : List.of(new byte[0], older)) {
            ByteBuffer cache = cache(prefix, "libucp.so.0", "/opt/a/libucp.so.0", "libucpx.so.0", "/opt/a/libucpx.so.0",
                    "libucp.so.0", "/opt/b/libucp.so.0");
            assertEquals(List.of(Path.of("/opt/a/libucp.so.0"), Path.of("/opt/b/libucp.so.0")),
                    SystemPlaces.readLinkerCache(cache, "libucp.so.0"));
        }
    }

    @Test
    void bearsADamagedLinkersCache() throws Exception {
        ByteBuffer cache = cache(new byte[0], "libucp.so.0", "/opt/a/libucp.so.0");
        for (int length = 0; length < cache.capacity(); length++) {
            byte[] cut = new byte[length];
            cache.get(0, cut);
            assertTrue(SystemPlaces.readLinkerCache(ByteBuffer.wrap(cut), "libucp.so.0").size() <= 1);
        }
        cache.putInt(20, Integer.MAX_VALUE).putInt(52, -1);
        assertEquals(List.of(), SystemPlaces.readLinkerCache(cache, "libucp.so.0"));
    }

    private static ByteBuffer cache(byte[] prefix, String... strings) {
        ByteBuffer cache = ByteBuffer.allocate(1024).order(ByteOrder.nativeOrder());
        cache.put(prefix).put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1)).putInt(strings.length / 2);
        int entry = prefix.length + 48;
        int offset = 48 + strings.length / 2 * 24;
        for (int i = 0; i < strings.length; i++) {
            cache.putInt(entry + i / 2 * 24 + 4 + i % 2 * 4, offset);
            byte[] bytes = strings[i].getBytes(StandardCharsets.UTF_8);
            cache.put(prefix.length + offset, bytes);
            offset += bytes.length + 1;
        }
        byte[] used = new byte[prefix.length + offset];
        cache.get(0, used);
        return ByteBuffer.wrap(used).order(ByteOrder.nativeOrder());
    }
}
