// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Security;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In processes of its own: it takes an option of the JVM. */
class AeronIpcTest {
    private static final long OPERATIONS = 2_000;

    @ParameterizedTest
    @CsvSource({"LATENCY, 16", "THROUGHPUT, 16", "THROUGHPUT, 1024"})
    void messagesArriveAndAreCounted(Work work, int size) throws Exception {
        var before = leftOver();
        var sample = new AeronIpc().measure(scenario(work, size), new Interruption());
        assertEquals(OPERATIONS, sample.operations());
        assertEquals("ipc", sample.lane());
        for (var metric : work.metrics()) {
            assertTrue(Double.isFinite(sample.figures().get(metric)), sample.toString());
        }
        assertTrue(sample.figures().get(work.headline()) > 0, sample.toString());
        assertEquals(before, leftOver(), "the driver's files are still there");
    }

    @Test
    void isAReferenceForSmallMessagesOnly() {
        assertTrue(AeronIpc.knows(scenario(Work.LATENCY, 16)));
        assertFalse(AeronIpc.knows(scenario(Work.LATENCY, 64 * 1024)));
        assertFalse(AeronIpc.knows(scenario(Work.LATENCY, 16).with(Security.TLS)));
        assertFalse(AeronIpc.knows(scenario(Work.CONNECT, 16)));
        assertThrows(ExampleFailure.class,
                () -> new AeronIpc().measure(scenario(Work.CONNECT, 16), new Interruption()));
    }

    private static Set<Path> leftOver() throws IOException {
        try (var files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("netty-ucx-benchmark-"))
                    .collect(Collectors.toSet());
        }
    }

    private static Scenario scenario(Work work, int size) {
        return new Scenario(work, size, 1, 1, 1, 1, 0, OPERATIONS, 0, null, null);
    }
}
