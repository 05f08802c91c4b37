// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.ucp.CProgram;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares every number that this package knows about C with the headers of this machine: a C program prints them, and
 * no number may be missing on either side.
 */
class SocketLayoutsTest {

    private static final Path PROGRAM = Path.of("src/test/c/sockets.c");
    private static final Map<String, String> HEADERS = new TreeMap<>();

    @BeforeAll
    static void compileAndRun(@TempDir Path directory) throws Exception {
        Path executable = directory.resolve("sockets");
        CProgram.compile(directory, "-o", executable.toString(), PROGRAM.toString());
        for (String line : CProgram.run(directory, executable.toString())) {
            int equals = line.indexOf('=');
            HEADERS.put(line.substring(0, equals), line.substring(equals + 1));
        }
    }

    @Test
    void everySizeAndOffsetIsThatOfTheHeaders() {
        Map<String, String> actual = new TreeMap<>();
        for (Class<?> struct : SocketLayouts.class.getDeclaredClasses()) {
            constants(struct).forEach((name, value) -> actual.put(
                    (name.equals("SIZE") ? "struct " : "offset ") + struct.getSimpleName() + '.' + name,
                    value.toString()));
        }
        Map<String, String> expected = headers("struct ");
        expected.putAll(headers("offset "));
        assertEquals(expected, actual);
    }

    @Test
    void everyConstantIsThatOfTheHeaders() {
        Map<String, String> actual = new TreeMap<>();
        constants(SocketConstants.class).forEach((name, value) -> actual.put("const " + name, value.toString()));
        assertEquals(headers("const "), actual);
    }

    @Test
    void everyErrorHasTheNumberAndTheTextOfTheSystem() {
        Map<String, String> actual = new TreeMap<>();
        constants(Errno.class).forEach((name, value) -> {
            actual.put("errno " + name, value.toString());
            actual.put("text " + value, Errno.text(value));
        });
        Map<String, String> expected = headers("errno ");
        expected.putAll(headers("text "));
        assertEquals(expected, actual);
    }

    /** The headers of the other architecture are not there. */
    @Test
    void anEventIsPackedOnX86AndPaddedOnArm() {
        assertTrue(SocketLayouts.EpollEvent.isPacked("amd64"));
        assertFalse(SocketLayouts.EpollEvent.isPacked("aarch64"));
    }

    @Test
    void whatThreadsKeepForStructsIsLargeEnough() {
        for (Class<?> struct : SocketLayouts.class.getDeclaredClasses()) {
            assertTrue(constants(struct).get("SIZE") <= CallState.STRUCT_SIZE, struct::getSimpleName);
        }
    }

    private static Map<String, String> headers(String prefix) {
        Map<String, String> selected = new TreeMap<>();
        HEADERS.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                selected.put(name, value);
            }
        });
        return selected;
    }

    private static Map<String, Integer> constants(Class<?> type) {
        Map<String, Integer> constants = new TreeMap<>();
        try {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                    field.setAccessible(true);
                    constants.put(field.getName(), field.getInt(null));
                }
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return constants;
    }
}
