// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What connections need is made ready when the first loops are made, and nothing that they do not need. */
class PreparationTest {

    private static String run(Lane lane, String... arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(LaneJvm.command(lane, List.of("-Xmx256m"), PreparationMain.class, arguments))
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
        assertTrue(output.contains("Using UCX "), output);
    }

    @Test
    void ucxIsNotLoadedWhereConnectionsMayNotUseIt() throws Exception {
        String output = run(Lane.SOCKET);
        assertTrue(output.contains(PreparationMain.NEVER), output);
    }
}
