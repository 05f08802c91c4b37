// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
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

    /** Of each module. */
    private static final String MAIN = "src/main/java/io/github/nettyucx";
    /** This module, and the one that uses it for each message. */
    private static final Set<String> BINDING = Set.of("transport-ucx-native", "transport-ucx");
    /** Names in quotes that are none of functions: those of what UCX's own benchmark can measure. */
    private static final Set<String> MEASUREMENTS = Set.of("ucp_put_bw", "ucp_put_lat", "ucp_get", "ucp_fadd", "ucp_cswap",
            "ucp_add", "ucp_swap");
    private static final Path C = Path.of("src/test/c");
    /** A name of UCX's in quotes: whatever is looked up, and however, it is written so somewhere. */
    private static final Pattern NAME = Pattern.compile("\"(uc[pstm]_[a-z0-9_]+)\"");
    private static final Pattern INCLUDE = Pattern.compile("#\\s*include\\s*(<.*>|\".*\")");

    /** Sockets have structs of the kernel, at offsets of its headers, in memory of their own; see SocketLayoutsTest. */
    private static final String SOCKETS = "socket/";
    /** Who may have a view of memory that it has not allocated, outside the binding itself; and why. */
    private static final Map<String, String> VIEWS = Map.of(
            "library/Environ.java", "the process's list of environment variables, which is the C library's",
            "examples/ucp/ActiveMessageDemo.java", "the bytes of a message, which UCX lends to a handler",
            "examples/ucp/StreamDemo.java", "the bytes of a stream, which UCX lends as well",
            "library/Libc.java", "names of files and messages that the C library has; no struct of UCX",
            "worker/SendBuffer.java", "copies from one buffer into another",
            "memory/RawMemory.java", "memory that an application has registered, or a peer's: copies and atomic operations",
            "memory/MemoryFrame.java", "the fields of a message about memory, in a buffer of its own",
            "memory/RegionMemory.java", "memory that an application has registered",
            "memory/UcxRemoteMemory.java", "a peer's memory that this process has attached",
            "socket/SocketFunctions.java", "the texts of errors, which the C library has");
    /** Offsets that no layout names, and why they may be there. */
    private static final Map<String, String> OFFSETS = Map.of(
            "library/Environ.java: 0", "the beginning of a string",
            "examples/ucp/ActiveMessageDemo.java: 0", "the first byte of a message, or of what is sent",
            "examples/ucp/ActiveMessageDemo.java: PICTURE_SIZE - 1", "the last byte of the same",
            "examples/ucp/StreamDemo.java: 0", "the beginning of the bytes of a stream",
            "library/Libc.java: 0", "the first field of the C library's Dl_info, and the beginning of a string",
            "ucp/UcpEndpointParams.java: 0", "the beginning of a worker's address, which is bytes to us",
            "ucp/UcpRemoteKey.java: 0", "the beginning of a packed key, which is bytes to us",
            "ucp/UcpMemory.java: 0", "the beginning of the application's memory",
            "worker/SendBuffer.java: to + done", "the bytes of a buffer",
            "worker/SendBuffer.java: from + done", "the bytes of a buffer");

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"1.16", "1.22"})
    void everyFunctionIsDeclaredInAPublicHeader(String release) throws Exception {
        Set<String> names = names();
        names.removeAll(MEASUREMENTS);
        // If the search found nothing, there would be nothing to fail.
        assertTrue(names.containsAll(Set.of("ucp_ep_create", "ucp_mem_map", "ucs_status_string")), names::toString);
        compile(release, names);
    }

    @Test
    void allModulesAreSearched() throws IOException {
        Set<String> found = modules().stream().map(root -> Path.of("..").relativize(root).getName(0).toString())
                .collect(Collectors.toSet());
        assertTrue(found.containsAll(BINDING), found::toString);
        assertTrue(found.containsAll(Set.of("transport-ucx-io", "messaging", "agent", "examples", "jmh")), found::toString);
    }

    @Test
    void aFunctionThatIsNotDeclaredWouldBeFound() {
        String inside = "ucp_cm_server_conn_request_cb";
        AssertionError error = assertThrows(AssertionError.class, () -> compile("1.22", Set.of(inside)));
        assertTrue(error.getMessage().contains(inside), error::getMessage);
    }

    @Test
    void symbolsAreLookedUpInOnePlaceForTheBindingAndOneForTheLoader() throws IOException {
        assertEquals(Set.of("ucp/UcpFunctions.java"), files(line -> line.contains(".symbols()")));
        assertEquals(Set.of("library/Libc.java", "library/LoadedUcx.java", "library/UcxLibrary.java"),
                files(line -> line.contains("dlsym(") && !line.contains("private static")));
    }

    @Test
    void layoutsComeFromThePublicHeaders() throws IOException {
        Set<String> includes = new TreeSet<>();
        try (Stream<Path> files = Files.list(C)) {
            for (Path file : files.toList()) {
                includes(Files.readString(file)).filter(header -> !header.startsWith("<") || header.startsWith("<uc"))
                        .forEach(header -> includes.add(file.getFileName() + ": " + header));
            }
        }
        assertEquals(Set.of("layouts.c: <ucp/api/ucp.h>"), includes);
    }

    @Test
    void aHeaderIsFoundHoweverItIsIncluded() {
        assertEquals(List.of("<ucp/core/ucp_ep.h>", "\"ucp/core/ucp_ep.h\"", "\"ucp/core/ucp_ep.inl\""),
                includes("#include <ucp/core/ucp_ep.h>\n#include \"ucp/core/ucp_ep.h\"\n"
                        + "# include\"ucp/core/ucp_ep.inl\"\n").toList());
    }

    @Test
    void onlyTheBindingSeesMemoryThatIsNotItsOwn() throws IOException {
        Set<String> views = new TreeSet<>();
        sources().forEach((file, text) -> {
            if (!file.startsWith("ucp/") && new MemoryAccess(text).seesForeignMemory()) {
                views.add(file);
            }
        });
        assertEquals(new TreeSet<>(VIEWS.keySet()), views);
    }

    @Test
    void structsAreReadAndWrittenByTheirLayoutsOnly() throws IOException {
        Set<String> offsets = new TreeSet<>();
        sources().forEach((file, text) -> {
            // Who has no view of other memory than its own cannot read a struct of UCX's.
            boolean concerned = VIEWS.containsKey(file) || isOfBinding(file);
            if (concerned && !file.startsWith(SOCKETS)) {
                new MemoryAccess(text).withoutLayout().forEach(offset -> offsets.add(file + ": " + offset));
            }
        });
        assertEquals(new TreeSet<>(OFFSETS.keySet()), offsets);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "NativeMemory.getInt(ep + 24)",
        "NativeMemory.putLong(ep + OFFSET, 1)",
        "NativeMemory.getString(ep + 0x18)",
        "NativeMemory.getBytes(ep + offset, length)",
        "NativeMemory\n    .segment(ep + 24, length)",
        "NativeMemory.all().get(ValueLayout.JAVA_LONG, ep + 24)",
        "segment.get(ValueLayout.JAVA_INT, 8)",
        "segment.set(JAVA_LONG, 8L, value)",
        "segment.get(ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 8)",
        "segment.getAtIndex(ValueLayout.JAVA_INT, 3)",
        "segment.get(\n    ValueLayout.JAVA_INT, 0)",
        "segment.getString(16)",
        "segment.asSlice(16, 8)",
        "MemorySegment.copy(segment, 16, array, 0, 8)",
        "MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, 16, bytes, 0, 8)",
        "MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 16, 8)",
        "long field = ep.address() + 24; NativeMemory.getInt(field)",
        "static final int FIRST = 0; segment.get(JAVA_INT, FIRST)",
        "static final int FIELD = 24; segment.get(JAVA_INT, FIELD)",
        "MemorySegment out = arena.allocate(ValueLayout.JAVA_INT); out.get(ValueLayout.JAVA_INT, 4)"})
    void anOffsetWithoutALayoutWouldBeFound(String source) {
        assertNotEquals(Set.of(), new MemoryAccess(source).withoutLayout(), source);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "NativeMemory.getInt(ep + UcpLayouts.EpAttr.FIELD_MASK)",
        "long entry = first + (long) i * UcpLayouts.Iov.SIZE; NativeMemory.getLong(entry + UcpLayouts.Iov.BUFFER)",
        "segment.get(ValueLayout.JAVA_INT, UcpLayouts.EpAttr.FIELD_MASK)",
        "segment.get(JAVA_INT, offset) // at 24",
        "map.get(key, 24)",
        "MemorySegment out = arena.allocate(ValueLayout.JAVA_INT); out.get(ValueLayout.JAVA_INT, 0)"})
    void aFieldOfALayoutIsNoneOfThem(String source) {
        assertEquals(Set.of(), new MemoryAccess(source).withoutLayout(), source);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NativeMemory.all()", "MemorySegment.ofAddress(ep)", "segment.reinterpret(64)",
        "PlatformDependent.getInt(ep)", "import sun.misc.Unsafe;", "MemorySegment.NULL"})
    void aViewOfForeignMemoryWouldBeFound(String source) {
        assertTrue(new MemoryAccess(source).seesForeignMemory(), source);
    }

    private static Stream<String> includes(String program) {
        return INCLUDE.matcher(program).results().map(match -> match.group(1));
    }

    private static Set<String> names() throws IOException {
        return sources().values().stream().flatMap(text -> NAME.matcher(text).results())
                .map(match -> match.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> files(Predicate<String> matching) throws IOException {
        return sources().entrySet().stream().filter(source -> source.getValue().lines().anyMatch(matching))
                .map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    private static boolean isOfBinding(String file) {
        return BINDING.stream().anyMatch(module -> Files.exists(Path.of("..", module, MAIN, file)));
    }

    /** Those that have code to be published, to be run or to be measured, this one among them. */
    private static List<Path> modules() throws IOException {
        try (Stream<Path> directories = Files.list(Path.of(".."))) {
            return directories.map(directory -> directory.resolve(MAIN)).filter(Files::isDirectory).toList();
        }
    }

    /** All files of the modules, by room and name. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (Path root : modules()) {
            int before = sources.size();
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
                    assertNull(sources.put(root.relativize(file).toString(), Files.readString(file)),
                            () -> "two files: " + file);
                }
            }
            assertTrue(sources.size() > before, () -> "no sources in " + root.toAbsolutePath());
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
