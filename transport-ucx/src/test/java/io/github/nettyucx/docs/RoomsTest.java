// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Each package uses only those that its row on the page about the design names. */
class RoomsTest {

    private static final Path PAGE = Path.of("../docs/design.md");
    private static final String MADE_UP = """
            | room | module | package | what it does | uses |
            |---|---|---|---|---|
            | ucp | `low` | `io.github.nettyucx.ucp` | the binding, and no worker | C |
            | worker | `low` | `io.github.nettyucx.worker` | what a loop owns | status codes of ucp |
            | wire | `high` | `io.github.nettyucx.wire` | a stream | the worker's ports |
            | hook | `high` | `io.github.nettyucx.agent.hook` | what is called | bytes only |
            """;

    private static Path sources(String module) {
        return Path.of("..", module, "src/main/java/io/github/nettyucx");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transport-ucx-native", "transport-ucx"})
    void eachPackageUsesThoseThatThePageNames(String module) throws IOException {
        Rooms rooms = new Rooms(Files.readString(PAGE));
        Set<String> packages = new TreeSet<>();
        List<String> violations = new ArrayList<>();
        Path directory = sources(module);
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
                String name = directory.relativize(file.getParent()).toString().replace('/', '.');
                packages.add(name);
                assertTrue(rooms.packagesOf(module).contains(name), () -> PAGE + " has no row for " + name);
                rooms.violations(name, Files.readString(file))
                        .forEach(violation -> violations.add(file.getFileName() + ": " + violation));
            }
        }
        assertEquals(List.of(), violations);
        assertEquals(rooms.packagesOf(module), packages, "the packages that " + PAGE + " has rows for");
    }

    // ------------------------------------------------------------------------------------------- the test itself

    @Test
    void theTableIsRead() {
        Rooms rooms = new Rooms(MADE_UP);
        assertEquals(Set.of("ucp", "worker"), rooms.packagesOf("low"));
        assertEquals(Set.of("wire", "agent.hook"), rooms.packagesOf("high"));
        assertEquals(Set.of(), rooms.usedBy("ucp"));
        assertEquals(Set.of("ucp"), rooms.usedBy("worker"));
        assertEquals(Set.of("worker"), rooms.usedBy("wire"));
        assertEquals(Set.of(), rooms.usedBy("hook"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "wire | import io.github.nettyucx.ucp.UcsStatus; | wire uses ucp",
        "worker | import static io.github.nettyucx.wire.Tag.of; | worker uses wire",
        "worker | class A { io.github.nettyucx.agent.hook.Hooks hooks; } | worker uses hook",
        "worker | import io.github.nettyucx.cellar.Wine; | worker names io.github.nettyucx.cellar, which is no room",
        "ucp | import io.netty.buffer.ByteBuf; | ucp uses Netty",
        "worker | import org.slf4j.Logger; | worker imports org.slf4j.Logger"
    })
    void whatTheTableDoesNotAllowIsFound(String room, String source, String violation) {
        assertEquals(List.of(violation), new Rooms(MADE_UP).violations(room, source));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "worker | import io.github.nettyucx.ucp.UcsStatus;",
        "wire | import io.github.nettyucx.worker.EndpointPort;",
        "wire | import io.netty.buffer.ByteBuf;",
        "wire | import java.util.List;",
        "wire | import io.github.nettyucx.wire.Tag;",
        "ucp | /** See {@link io.github.nettyucx.wire.Tag}. */ class A { } // of io.netty",
        "ucp | class A { String name = \"io.github.nettyucx.zeroCopyMin\"; }"
    })
    void whatItAllowsIsNot(String room, String source) {
        assertEquals(List.of(), new Rooms(MADE_UP).violations(room, source));
    }
}
