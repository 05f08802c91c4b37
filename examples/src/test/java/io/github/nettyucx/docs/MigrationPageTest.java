// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What docs/migration.md says of classes is true of those on the class path. */
class MigrationPageTest {
    private static final Path PAGE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("docs/migration.md");
    /** Of the columns with Netty UCX, epoll and the io_uring of Netty 4.1; that of 4.2 is not on this class path. */
    private static final List<String> PACKAGES =
            List.of("io.github.nettyucx.channel.", "io.netty.channel.epoll.", "io.netty.incubator.channel.uring.");

    @Test
    void namesClassesThatExist() throws Exception {
        var rows = Files.readAllLines(PAGE).stream().dropWhile(line -> !line.startsWith("| event loops"))
                .takeWhile(line -> line.startsWith("|")).toList();
        assertEquals(6, rows.size());
        for (var row : rows) {
            var cells = row.split("\\|");
            for (var i = 0; i < PACKAGES.size(); i++) {
                var name = PACKAGES.get(i) + cells[i + 2].strip().replaceAll("`|\\..*", "");
                assertDoesNotThrow(() -> Class.forName(name, false, MigrationPageTest.class.getClassLoader()), row);
            }
        }
    }

    @Test
    void groupsAreMadeTheSameWay() {
        var missing = new HashSet<>(constructors(EpollEventLoopGroup.class));
        missing.removeAll(constructors(UcxEventLoopGroup.class));
        assertEquals(Set.of(), missing);
    }

    private static Set<List<Class<?>>> constructors(Class<?> group) {
        return Arrays.stream(group.getConstructors())
                .filter(constructor -> !constructor.isAnnotationPresent(Deprecated.class)).map(Constructor::getParameterTypes).map(List::of)
                .collect(Collectors.toSet());
    }
}
