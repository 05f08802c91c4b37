// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.library.UcxLibrary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** What connections need is made ready when the first loops are made, and nothing that they do not need. */
class PreparationTest {

    private static String run(Lane lane, String... arguments) throws IOException, InterruptedException {
        return run(lane, List.of("-Xmx256m"), arguments);
    }

    private static String run(Lane lane, List<String> flags, String... arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(LaneJvm.command(lane, flags, PreparationMain.class, arguments))
                .redirectErrorStream(true).start();
        String output;
        try (BufferedReader reader = process.inputReader()) {
            output = reader.lines().collect(Collectors.joining("\n"));
        }
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    @Test
    void aGroupOfLoopsHasUcxLoadedBeforeAnybodyConnects() throws Exception {
        String output = run(Lane.SHM, "wait");
        assertTrue(output.contains(PreparationMain.WITHOUT_CONNECTION), output);
    }

    /** What the transport has brought along is no news; the first line of a log takes long in a JVM that has just started. */
    @Test
    void onlyAUcxThatIsNotTheBundledOneIsTold() throws Exception {
        assumeTrue("bundled".equals(System.getProperty(UcxLibrary.PROPERTY)), "the tests use another UCX");
        assertFalse(run(Lane.SHM, "wait").contains("Using UCX "));
        Path libucp = UcxLibrary.load().path();
        String output = run(Lane.SHM, List.of("-Xmx256m", "-D" + UcxLibrary.PROPERTY + '=' + libucp), "wait");
        assertTrue(output.lines().anyMatch(line -> line.contains("INFO") && line.contains("Using UCX ")
                && line.contains(libucp.toString())), output);
    }

    @Test
    void ucxIsNotLoadedWhereConnectionsMayNotUseIt() throws Exception {
        String output = run(Lane.SOCKET);
        assertTrue(output.contains(PreparationMain.NEVER), output);
    }

    /** A directory that is full, or cannot be written to for a moment, has no consequences for the rest of the process's life. */
    @Test
    void connectionsHaveLinksAgainWhenUcxCanBeLoaded(@TempDir Path temporary) throws Exception {
        assumeTrue("bundled".equals(System.getProperty(UcxLibrary.PROPERTY)), "the tests use another UCX");
        Path file = Files.createFile(temporary.resolve("file"));
        String output = run(Lane.SHM, List.of("-Xmx256m", "-D" + UcxLibrary.WORKDIR_PROPERTY + '=' + file.resolve("below"),
                "-D" + PreparationMain.IN_THE_WAY + '=' + file, "-Dio.github.nettyucx.lanes=shm,socket"));
        assertTrue(output.contains(PreparationMain.LATE), output);
    }
}
