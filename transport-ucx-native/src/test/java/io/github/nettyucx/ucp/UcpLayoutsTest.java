// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares every number that the binding knows about C with the real headers, of the oldest release that is supported
 * and of the newest one: a C program prints them, and no number may be missing on either side.
 *
 * <p>Needs {@code cc}, see {@link CProgram}, and the directories with the headers in the properties
 * {@code io.github.nettyucx.test.include.1.16} and {@code .1.22}.
 */
class UcpLayoutsTest {

    private static final String NEWEST = "1.22";
    private static final Path PROGRAM = Path.of("src/test/c/layouts.c");

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"1.16", NEWEST})
    void everySizeOffsetAndConstantIsThatOfTheHeaders(String release) throws Exception {
        Map<String, Long> expected = compileAndRun(release);
        Map<String, Long> actual = new TreeMap<>();
        for (Class<?> struct : UcpLayouts.class.getDeclaredClasses()) {
            constants(struct).forEach((name, value) -> actual.put(
                    (name.equals("SIZE") ? "struct " : "offset ") + struct.getSimpleName() + '.' + name, value));
        }
        constants(UcpConstants.class).forEach((name, value) -> {
            // These two are this binding's choice.
            if (!name.startsWith("API_")) {
                actual.put("const " + name, value);
            }
        });
        constants(UcsStatus.class).forEach((name, value) -> actual.put("const UCS_" + name, value));
        // Declared as one byte in every function descriptor.
        actual.put("struct ucs_status_t.SIZE", 1L);

        assertEquals(new TreeSet<>(expected.keySet()), new TreeSet<>(actual.keySet()),
                "layouts.c and the binding don't list the same names");
        List<Executable> comparisons = new ArrayList<>();
        actual.forEach((name, value) -> comparisons.add(() -> {
            long header = expected.get(name);
            if (name.startsWith("struct ") && !release.equals(NEWEST)) {
                assertTrue(header <= value, () -> name + ": " + header + " bytes, more than " + value);
            } else {
                assertEquals(header, value, name);
            }
        }));
        assertAll(comparisons);
    }

    private Map<String, Long> compileAndRun(String release) throws Exception {
        Path executable = directory.resolve("layouts");
        CProgram.compile(directory, "-I", UcxHeaders.of(release).toString(), "-o", executable.toString(),
                PROGRAM.toString());
        Map<String, Long> values = new TreeMap<>();
        for (String line : CProgram.run(directory, executable.toString())) {
            int equals = line.indexOf('=');
            values.put(line.substring(0, equals), Long.valueOf(line.substring(equals + 1)));
        }
        return values;
    }

    private static Map<String, Long> constants(Class<?> type) {
        Map<String, Long> constants = new TreeMap<>();
        try {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                    field.setAccessible(true);
                    constants.put(field.getName(), (long) field.getInt(null));
                }
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return constants;
    }
}
