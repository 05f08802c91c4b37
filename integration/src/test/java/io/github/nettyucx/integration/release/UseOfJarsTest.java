// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.release;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.library.UcxLibrary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The jars, as they are published, on a module path and on an executable jar's class path. */
@Timeout(120)
class UseOfJarsTest {

    /** What the JVM says of a native call that it was not told to allow. */
    private static final String WARNING = "WARNING: A restricted method in java.lang.foreign";

    /** Ours, and Netty's. */
    private static List<Path> jars() {
        List<Path> jars = new ArrayList<>();
        for (Published module : Published.modules()) {
            if (module.artifact().equals("netty-transport-ucx") || module.artifact().equals("netty-transport-native-ucx")) {
                jars.add(module.jar("").toAbsolutePath().normalize());
            }
        }
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Arrays.stream(classPath.split(File.pathSeparator)).filter(entry -> entry.contains("/io/netty/"))
                .map(Path::of).forEach(jars::add);
        assertTrue(jars.stream().anyMatch(jar -> jar.getFileName().toString().startsWith("netty-transport-4")),
                classPath);
        return jars;
    }

    private static Path testClasses() throws Exception {
        return Path.of(ConnectMain.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        // The library that all tests use: the bundled one is a directory here, which is on no such path.
        command.add("-Dio.github.nettyucx.library=" + io.github.nettyucx.channel.Ucx.libraryPath());
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        // Not over the socket, which needs no UCX.
        assertTrue(output.matches("(?s).*connected over (sysv|posix) by UCX .*"), output);
        return output;
    }

    @Test
    void asNamedModules() throws Exception {
        String path = jars().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        String output = run("--module-path", path, "--add-modules", "ALL-MODULE-PATH",
                "--enable-native-access=io.github.nettyucx.natives,io.github.nettyucx.transport",
                "-cp", testClasses().toString(), ConnectMain.class.getName());
        assertTrue(output.contains(" in module io.github.nettyucx.transport"), output);
        assertFalse(output.contains(WARNING), output);
    }

    @Test
    void anExecutableJarAllowsNativeAccessByItsManifest(@TempDir Path directory) throws Exception {
        assertFalse(run("-jar", executable(directory.resolve("allowed.jar"), true)).contains(WARNING));
        // So that the absence of the warning means something.
        String output = run("-jar", executable(directory.resolve("not-allowed.jar"), false));
        assertTrue(output.contains(WARNING), output);
    }

    /** As docs/tuning.md says. The JDK leaves out of a cache what it cannot put there; the transport is not left out. */
    @Test
    void anAotCacheHoldsTheTransport(@TempDir Path directory) throws Exception {
        Path main = directory.resolve("main.jar");
        String name = ConnectMain.class.getName().replace('.', '/') + ".class";
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(main))) {
            out.putNextEntry(new JarEntry(name));
            Files.copy(testClasses().resolve(name), out);
            out.closeEntry();
        }
        String path = main + File.pathSeparator + jars().stream().map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        Path cache = directory.resolve("app.aot");
        run("--enable-native-access=ALL-UNNAMED", "-XX:AOTCacheOutput=" + cache, "-cp", path, ConnectMain.class.getName());
        Path log = directory.resolve("classes.log");
        run("--enable-native-access=ALL-UNNAMED", "-XX:AOTMode=on", "-XX:AOTCache=" + cache,
                "-Xlog:class+load:file=" + log, "-cp", path, ConnectMain.class.getName());
        for (Class<?> used : List.of(UcxSocketChannel.class, UcxLibrary.class)) {
            assertTrue(Files.readString(log).contains(used.getName() + " source: shared objects file"), used.getName());
        }
    }

    private static String executable(Path jar, boolean allowed) throws Exception {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, ConnectMain.class.getName());
        List<Path> classPath = new ArrayList<>(jars());
        classPath.add(testClasses());
        attributes.put(Attributes.Name.CLASS_PATH,
                classPath.stream().map(entry -> entry.toUri().toString()).collect(Collectors.joining(" ")));
        if (allowed) {
            attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
        }
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file, manifest)) {
            return jar.toString();
        }
    }
}
