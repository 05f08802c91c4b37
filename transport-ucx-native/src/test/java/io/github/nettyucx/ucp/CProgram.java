// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * What tests compile with {@code cc}. {@code -Dio.github.nettyucx.test.requireCc=false} lets them be skipped where there
 * is no compiler.
 */
public final class CProgram {

    private static final String REQUIRE_CC = "io.github.nettyucx.test.requireCc";

    private CProgram() {
    }

    /** @param directory for the compiler's messages */
    public static void compile(Path directory, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("cc", "-Wall", "-Werror"));
        command.addAll(List.of(arguments));
        try {
            run(directory, command.toArray(String[]::new));
        } catch (IOException e) {
            Assumptions.assumeTrue(Boolean.parseBoolean(System.getProperty(REQUIRE_CC, "true")),
                    "skipped as " + REQUIRE_CC + "=false was given, and there is no C compiler");
            fail("This can't be tested without a C compiler; install one, or run with -D" + REQUIRE_CC + "=false", e);
        }
    }

    /**
     * @return the lines of the output
     * @throws IOException if there is no such program
     */
    public static List<String> run(Path directory, String... command) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        Process process =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "takes too long: " + command[0]);
        List<String> lines = Files.readAllLines(output);
        assertEquals(0, process.exitValue(), () -> command[0] + " failed:\n" + String.join("\n", lines));
        return lines;
    }
}
