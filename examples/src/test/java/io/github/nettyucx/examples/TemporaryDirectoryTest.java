// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TemporaryDirectoryTest {
    /** Has such a directory, and a child that writes into it all the time. */
    static final class Main {
        private Main() {
        }

        public static void main(String[] arguments) throws Exception {
            var directory = TemporaryDirectory.make(Path.of(arguments[0]), "test");
            StartedProcesses.start(new ProcessBuilder("sh", "-c", "while : ; do echo x >> \"$0\" ; done",
                    directory.path().resolve("file").toString()));
            while (!Files.exists(directory.path().resolve("file"))) {
                Thread.onSpinWait();
            }
            System.out.println("ready");
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    @Test
    void goesWithItsObject(@TempDir Path parent) throws Exception {
        var directory = TemporaryDirectory.make(parent, "test");
        Files.writeString(directory.path().resolve("file"), "x");
        directory.close();
        assertFalse(Files.exists(directory.path()));
        directory.close();
    }

    /** As by Ctrl-C. */
    @Test
    void goesWithAProcessThatIsToldToEnd(@TempDir Path parent) throws Exception {
        var process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), Main.class.getName(), parent.toString()).redirectErrorStream(true).start();
        try (var output = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            assertEquals("ready", output.readLine());
            process.destroy();
            assertTrue(process.waitFor(30, TimeUnit.SECONDS), "it does not end");
        } finally {
            process.destroyForcibly();
        }
        try (var left = Files.list(parent)) {
            assertEquals(List.of(), left.toList());
        }
    }
}
