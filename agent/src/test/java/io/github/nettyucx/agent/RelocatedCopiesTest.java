// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.github.nettyucx.agent.weave.RelocatedJar;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Copies of Netty under other package names, as libraries have them inside. */
@Timeout(180)
class RelocatedCopiesTest {

    /** What a class of the binding says when it is loaded. */
    private static final String BINDING = "] io.github.nettyucx.ucp.UcpFunctions source";

    @TempDir
    static Path directory;

    private static Path behindPrefix;
    private static Path withoutIoNetty;

    @BeforeAll
    static void relocate() throws Exception {
        List<Path> jars = new ArrayList<>(ApplicationProcess.netty("4.1"));
        jars.removeIf(jar -> jar.toString().contains("native"));
        // As in Apache Ratis, and as in DataStax's driver, where nothing is left of the name.
        behindPrefix = RelocatedJar.make(directory.resolve("a.jar"), "com/example/thirdparty/io/netty", jars,
                EchoApplication.class, ApplicationTransport.class);
        List<Path> others = new ArrayList<>(ApplicationProcess.netty("4.2"));
        others.removeIf(jar -> jar.toString().contains("native"));
        withoutIoNetty = RelocatedJar.make(directory.resolve("b.jar"), "org/example/shaded/netty", others,
                EchoApplication.class, ApplicationTransport.class);
    }

    private static void assertTaken(String output, int connections) {
        // Those of several copies may stand in one row.
        Matcher lanes = Pattern.compile(ApplicationProcess.LANE_OF_MEMORY + " .* (\\d+) +\\d+ +\\d+ ").matcher(output);
        assertEquals(2 * connections, lanes.results().mapToInt(row -> Integer.parseInt(row.group(2))).sum(), output);
        assertEquals(connections, Pattern.compile("(?m)^echoed 200$").matcher(output).results().count(), output);
    }

    private static String logOfClasses(Path file) {
        return "-Xlog:class+load:file=" + file;
    }

    private static void assertOneBinding(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            assertEquals(1, lines.filter(line -> line.contains(BINDING)).count());
        }
    }

    @ParameterizedTest
    @CsvSource({"a, NIO", "b, NIO", "b, NIO_HANDLER"})
    void isTakenOver(String copy, String transport) throws Exception {
        Path jar = copy.equals("a") ? behindPrefix : withoutIoNetty;
        Path log = directory.resolve(copy + transport + ".log");
        String output = ApplicationProcess.of(EchoApplication.class, transport).on(List.of(jar)).withAgent("report")
                .with(logOfClasses(log)).run();
        assertTaken(output, 1);
        assertOneBinding(log);
        assertTrue(output.contains(copy.equals("a") ? "group com.example.thirdparty.io.netty.channel.nio.Nio"
                : "group org.example.shaded.netty.channel."), output);
    }

    /** In one class loader, and in class loaders of their own, one of which has the plain names as well. */
    @Test
    void severalInOneJvm() throws Exception {
        Path log = directory.resolve("several.log");
        String output = ApplicationProcess.of(SeveralCopies.class, behindPrefix.toString(), withoutIoNetty.toString())
                .onNetty("4.1").withAgent("report").with(logOfClasses(log)).run();
        assertTaken(output, 4);
        assertOneBinding(log);
        // For each kind of links at most, and not for each copy.
        assertTrue(output.matches("(?s).*\\ncontexts [123]\\n.*"), output);
    }
}
