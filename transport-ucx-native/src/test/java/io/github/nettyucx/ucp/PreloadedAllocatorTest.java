// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many servers run with another allocator than the C library's, given as {@code LD_PRELOAD}. */
@Tag("ucx-matrix")
class PreloadedAllocatorTest {

    @TempDir
    Path directory;

    @Test
    void itsMemoryIsGivenBackToIt() throws Exception {
        assertEquals(List.of("echoed true", "described true"), run());
    }

    private List<String> run() throws Exception {
        Path allocator = directory.resolve("liballocator.so");
        CProgram.compile(directory, "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", allocator.toString(),
                "src/test/c/allocator.c");
        List<String> lines = JavaProgram.run(directory, PreloadedAllocatorMain.class, "LD_PRELOAD=" + allocator);
        assertTrue(lines.stream().noneMatch(line -> line.contains("cannot be preloaded")), lines::toString);
        return lines.stream().filter(line -> line.matches("(echoed|described) .*")).toList();
    }
}
