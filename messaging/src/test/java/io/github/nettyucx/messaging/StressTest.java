// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.annotations.State;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Has jcstress look for interleavings that must not be, for some seconds. */
class StressTest {

    private static final List<Class<?>> TESTS = List.of(RingStress.class, RequestsStress.class, SpansStress.class);

    /** All in one run, as it looks first at what the machine can. It has small strides, in which rare ones come far more often. */
    @Test
    @Timeout(660)
    void noForbiddenInterleavingIsFound(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("output");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", classPath(), "org.openjdk.jcstress.Main",
                "-t", TESTS.stream().map(Class::getSimpleName).collect(Collectors.joining("|")), "-m", "sanity",
                "-time", System.getProperty("io.github.nettyucx.test.stressMillis", "50"), "-iters", "1",
                "-strideSize", "16", "-strideCount", "4", "-sc", "false", "-v", "-r", directory.toString())
                .directory(directory.toFile()).redirectErrorStream(true).redirectOutput(file.toFile()).start();
        boolean ended;
        try {
            ended = process.waitFor(600, TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
        String output = Files.readString(file);
        assertTrue(ended, () -> "it has not ended: " + output);
        assertEquals(0, process.exitValue(), output);
        assertFalse(output.contains("No tests found"), output);
        for (Class<?> tests : TESTS) {
            for (Class<?> each : tests.getDeclaredClasses()) {
                if (each.isAnnotationPresent(State.class)) {
                    assertTrue(output.contains(tests.getSimpleName() + "." + each.getSimpleName()),
                            () -> each + " was not run: " + output);
                }
            }
        }
        System.out.println(output.lines().filter(line -> TESTS.stream().anyMatch(tests -> line.contains(tests.getSimpleName())))
                .toList());
    }

    /** As it is for this JVM: surefire has it in the manifest of a jar. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }
}
