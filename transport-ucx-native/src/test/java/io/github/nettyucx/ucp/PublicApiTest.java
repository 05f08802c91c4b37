// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The binding knows UCX from its public headers alone: it calls no function that they do not declare, and reads and
 * writes no struct that they do not define. What is inside UCX changes with each release, and without notice.
 *
 * <p>{@link UcpLayoutsTest} compares each number in {@link UcpLayouts} and {@link UcpConstants} with those headers.
 * Here the sources are searched for ways around that. Needs {@code cc} and the headers, as that test does.
 */
class PublicApiTest {

    private static final Path MAIN = Path.of("src/main/java");
    private static final Path LAYOUTS = Path.of("src/test/c/layouts.c");
    /** A name of UCX's in quotes: whatever is looked up, and however, it is written so somewhere. */
    private static final Pattern NAME = Pattern.compile("\"(uc[pstm]_[a-z0-9_]+)\"");
    private static final Pattern INCLUDE = Pattern.compile("#include <(uc[pstm]/.*)>");
    private static final Pattern ACCESS = Pattern.compile("NativeMemory\\.(?:get|put)(?:Int|Long)\\(([^,;]*)");
    private static final Pattern NUMBER = Pattern.compile("\\b\\d+\\b");

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"1.16", "1.22"})
    void everyFunctionIsDeclaredInAPublicHeader(String release) throws Exception {
        Set<String> names = names();
        // If the search found nothing, there would be nothing to fail.
        assertTrue(names.containsAll(Set.of("ucp_ep_create", "ucp_mem_map", "ucs_status_string")), names::toString);
        compile(release, names);
    }

    @Test
    void aFunctionThatIsNotDeclaredWouldBeFound() {
        String inside = "ucp_cm_server_conn_request_cb";
        AssertionError error = assertThrows(AssertionError.class, () -> compile("1.22", Set.of(inside)));
        assertTrue(error.getMessage().contains(inside), error::getMessage);
    }

    @Test
    void symbolsAreLookedUpInOnePlaceForTheBindingAndOneForTheLoader() throws IOException {
        assertEquals(Set.of("UcpFunctions.java"), files(line -> line.contains(".symbols()")));
        assertEquals(Set.of("Libc.java", "LoadedUcx.java", "UcxLibrary.java"),
                files(line -> line.contains("dlsym(") && !line.contains("private static")));
    }

    @Test
    void layoutsComeFromThePublicHeaders() throws IOException {
        List<String> includes = INCLUDE.matcher(Files.readString(LAYOUTS)).results()
                .map(match -> match.group(1)).toList();
        assertEquals(List.of("ucp/api/ucp.h"), includes);
    }

    @Test
    void structsAreReadAndWrittenByTheirLayoutsOnly() throws IOException {
        List<String> offsets = new ArrayList<>();
        sources().forEach((file, text) -> {
            Matcher access = ACCESS.matcher(text);
            while (access.find()) {
                String address = access.group(1);
                if (NUMBER.matcher(address).find() || address.contains("+") && !address.contains("UcpLayouts.")) {
                    offsets.add(file + ": " + address);
                }
            }
        });
        assertEquals(List.of(), offsets);
    }

    private static Set<String> names() throws IOException {
        return sources().values().stream().flatMap(text -> NAME.matcher(text).results())
                .map(match -> match.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> files(Predicate<String> matching) throws IOException {
        return sources().entrySet().stream().filter(source -> source.getValue().lines().anyMatch(matching))
                .map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    /** All files of the module, by name. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        try (Stream<Path> files = Files.walk(MAIN)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
                String replaced = sources.put(file.getFileName().toString(), Files.readString(file));
                assertTrue(replaced == null || file.endsWith("package-info.java"), () -> "two files: " + file);
            }
        }
        return sources;
    }

    /** Takes the address of each function, which a C compiler refuses where nothing has declared it. */
    private void compile(String release, Set<String> names) throws Exception {
        StringBuilder program = new StringBuilder();
        for (String header : List.of("ucp/api/ucp.h", "uct/api/uct.h", "ucs/type/status.h", "ucm/api/ucm.h")) {
            program.append("#include <").append(header).append(">\n");
        }
        program.append("void *functions[] = {\n");
        names.forEach(name -> program.append("    (void *)&").append(name).append(",\n"));
        program.append("};\n");
        Path source = Files.writeString(directory.resolve("functions.c"), program);
        CProgram.compile(directory, "-I", UcxHeaders.of(release).toString(), "-c", "-o",
                directory.resolve("functions.o").toString(), source.toString());
    }
}
