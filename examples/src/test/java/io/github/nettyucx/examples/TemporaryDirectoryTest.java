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
            var file = directory.path().resolve("file");
            // It ends by itself once the directory has gone.
            var child = StartedProcesses.start(new ProcessBuilder("sh", "-c", "while echo x >> \"$0\" ; do : ; done",
                    file.toString()));
            while (!Files.exists(file)) {
                if (!child.isAlive()) {
                    throw new IllegalStateException("the child has ended, with " + child.exitValue());
                }
                Thread.onSpinWait();
            }
            System.out.println("ready");
            // Until it is told to end, which is what is tested, or whoever told it has gone.
            System.in.read();
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
