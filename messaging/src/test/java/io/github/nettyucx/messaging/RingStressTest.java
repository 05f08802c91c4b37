// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Has jcstress look for interleavings of {@link RingStress} that must not be, for some seconds. */
class RingStressTest {

    @Test
    @Timeout(180)
    void noForbiddenInterleavingIsFound(@TempDir Path directory) throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", classPath(), "org.openjdk.jcstress.Main", "-t", "RingStress", "-m", "sanity",
                "-time", System.getProperty("io.github.nettyucx.test.stressMillis", "200"), "-iters", "2", "-sc", "false",
                "-v", "-r", directory.toString())
                .directory(directory.toFile()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(10, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), output);
        assertFalse(output.contains("No tests found"), output);
        for (Class<?> each : RingStress.class.getDeclaredClasses()) {
            if (!each.getSimpleName().equals("Small")) {
                assertTrue(output.contains(each.getSimpleName()), () -> each + " was not run: " + output);
            }
        }
        System.out.println(output.lines().filter(line -> line.contains("RingStress")).toList());
    }

    /** As it is for this JVM: surefire has it in the manifest of a jar. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }
}
