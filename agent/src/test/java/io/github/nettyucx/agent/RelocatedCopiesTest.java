// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.github.nettyucx.agent.weave.RelocatedJar;
import org.example.application.ModularApplication;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.constant.ModuleDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
        // As in Apache Ratis, and as in DataStax's driver, where nothing is left of the name.
        behindPrefix = RelocatedJar.make(directory.resolve("a.jar"), "com/example/thirdparty/io/netty", classesOf("4.1"),
                EchoApplication.class, ApplicationTransport.class);
        withoutIoNetty = RelocatedJar.make(directory.resolve("b.jar"), "org/example/shaded/netty", classesOf("4.2"),
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

    // ------------------------------------------------------------------------------------------- all in one jar

    private static List<Path> classesOf(String netty) throws IOException {
        List<Path> jars = new ArrayList<>(ApplicationProcess.netty(netty));
        jars.removeIf(jar -> jar.toString().contains("native"));
        return jars;
    }

    private static void add(Path jar, String name, byte[] bytes) throws IOException {
        try (FileSystem inside = FileSystems.newFileSystem(jar)) {
            Path file = inside.getPath(name);
            if (file.getParent() != null) {
                Files.createDirectories(file.getParent());
            }
            Files.write(file, bytes);
        }
    }

    /** It has lost the file that tells the release, or has that of another artifact. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", value = {
            "4.2-older | none | of an unknown release",
            "4.2-older | netty-common.version=4.2.6 | 4.2.6",
            "older | netty-codec-http2.version=4.1.99.Final, netty-a-tcnative.version=2.0.81.Final | 4.1.99.Final"})
    void anOlderNettyInOneJarStaysAsItWas(String netty, String versions, String release) throws Exception {
        Path jar = RelocatedJar.make(directory.resolve(release + ".jar"), "io/netty", classesOf(netty), EchoApplication.class,
                ApplicationTransport.class);
        if (versions != null) {
            add(jar, "META-INF/io.netty.versions.properties", versions.replace(", ", "\n").getBytes());
        }
        String output = ApplicationProcess.of(EchoApplication.class, "NIO").on(List.of(jar)).withAgent("").run();
        assertTrue(output.contains("\nclient NioSocketChannel on NioEventLoop\nechoed 200\n"), output);
        assertTrue(output.contains("io.netty stays as it was: it is " + release + "; expected"), output);
        assertFalse(output.contains("Error"), output);
    }

    /** Another artifact's file tells it as well. */
    @Test
    void aNettyInOneJarIsTakenOver() throws Exception {
        Path jar = RelocatedJar.make(directory.resolve("one.jar"), "io/netty", classesOf("4.2"), EchoApplication.class,
                ApplicationTransport.class);
        add(jar, "META-INF/io.netty.versions.properties", "netty-common.version=4.2.17.Final".getBytes());
        String output = ApplicationProcess.of(EchoApplication.class, "NIO_HANDLER").on(List.of(jar)).withAgent("report").run();
        assertTaken(output, 1);
        assertTrue(output.contains("\nclient UcxSocketChannel on TakenIoEventLoop\n"), output);
    }

    /** Which none but the module itself can use otherwise, and so not the agent's classes either. */
    @ParameterizedTest
    @CsvSource({"4.1, com/example/driver/netty", "4.2, io/netty"})
    void aNettyInsideAModuleThatExportsNothingIsTakenOver(String netty, String root) throws Exception {
        Path jar = RelocatedJar.make(directory.resolve("module-" + netty + ".jar"), root, classesOf(netty),
                ModularApplication.class);
        ModuleDesc name = ModuleDesc.of("org.example.driver");
        add(jar, "module-info.class", ClassFile.of().buildModule(ModuleAttribute.of(name, module -> module
                .requires(ModuleDesc.of("java.base"), List.of(AccessFlag.MANDATED), null)
                .requires(ModuleDesc.of("java.logging"), List.of(), null)
                .requires(ModuleDesc.of("jdk.unsupported"), List.of(), null))));
        String output = ApplicationProcess.of("-m", name.name() + '/' + ModularApplication.class.getName())
                .with("--module-path=" + jar).withAgent("report").run();
        assertTrue(output.contains("module org.example.driver\n"), output);
        assertTrue(output.contains("\nUcxSocketChannel has got word\n"), output);
        assertFalse(output.contains("as it was"), output);
    }
}
