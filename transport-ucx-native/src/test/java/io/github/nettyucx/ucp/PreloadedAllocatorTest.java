// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many servers run with another allocator than the C library's, given as {@code LD_PRELOAD}. */
@Tag("ucx-matrix")
class PreloadedAllocatorTest {

    private static final String LIBRARY = "io.github.nettyucx.library";

    @TempDir
    Path directory;

    @Test
    void aServerAcceptsAndTurnsAway() throws Exception {
        assertEquals(List.of("echoed true", "described true", "turned away [an address of version 15]"),
                run(List.of()));
    }

    /** As tools do that watch allocations: what is usable of a block nobody can say then. */
    @Test
    void aServerAcceptsWhereMessagesCannotBeLookedAt() throws Exception {
        assertEquals(List.of("echoed true", "described true"), run(List.of("no junk"), "-DWITHOUT_USABLE_SIZE"));
    }

    private List<String> run(List<String> arguments, String... compilerOptions) throws Exception {
        Path allocator = directory.resolve("liballocator.so");
        CProgram.compile(directory, Stream.concat(Stream.of(compilerOptions), Stream.of("-O1", "-fno-builtin",
                "-shared", "-fPIC", "-o", allocator.toString(), "src/test/c/allocator.c")).toArray(String[]::new));
        List<String> command = new ArrayList<>(List.of("env", "LD_PRELOAD=" + allocator,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        if (System.getProperty(LIBRARY) != null) {
            command.add("-D" + LIBRARY + '=' + System.getProperty(LIBRARY));
        }
        command.add(PreloadedAllocatorMain.class.getName());
        command.addAll(arguments);
        List<String> lines = CProgram.run(directory, command.toArray(String[]::new));
        assertTrue(lines.stream().noneMatch(line -> line.contains("cannot be preloaded")), lines::toString);
        return lines.stream().filter(line -> line.matches("(echoed|described|turned away) .*")).toList();
    }
}
