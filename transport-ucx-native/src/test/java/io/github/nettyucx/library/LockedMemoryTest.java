// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockedMemoryTest {
    private static final String EIGHT = "this process may lock no more than 8388608 bytes of memory, with which UCX can hang"
            + " (expected: unlimited, or at least 67108864; see ulimit -l)";

    @TempDir
    Path process;

    private void write(String limit, String capabilities) throws IOException {
        Files.writeString(process.resolve("limits"), """
                Limit                     Soft Limit           Hard Limit           Units
                Max processes             95948                95948                processes
                Max locked memory         %-20s unlimited            bytes
                Max address space         unlimited            unlimited            bytes
                """.formatted(limit));
        Files.writeString(process.resolve("status"), """
                Name:\tjava
                CapPrm:\tffffffffffffffff
                CapEff:\t%s
                """.formatted(capabilities));
    }

    @ParameterizedTest
    @CsvSource({"unlimited, 0000000000000000", "67108864, 0000000000000000", "8388608, 0000000000004000",
            "8388608, 000001ffffffffff", "no number, 0000000000000000"})
    void isEnough(String limit, String capabilities) throws IOException {
        write(limit, capabilities);
        assertNull(LockedMemory.lack(process));
    }

    @ParameterizedTest
    @CsvSource({"0000000000000000", "000001ffffffbfff"})
    void isTooLittle(String capabilities) throws IOException {
        write("8388608", capabilities);
        assertEquals(EIGHT, LockedMemory.lack(process));
    }

    @Test
    void isUnknownWhereNobodyTells() {
        assertNull(LockedMemory.lack(process));
    }
}
