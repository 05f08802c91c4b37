// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.FileTree;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/**
 * AOT caches of the JDK's (JEP 514), one for each role, in a directory of their own. A process that makes one writes it
 * when it ends. The JDK makes none for classes that lie in directories, so those are put into jars.
 */
final class AotCaches implements AutoCloseable {
    private final Path directory;
    private final String classPath;

    private AotCaches(Path directory, String classPath) {
        this.directory = directory;
        this.classPath = classPath;
    }

    static AotCaches create() {
        try {
            var directory = Files.createTempDirectory("netty-ucx-aot-");
            var entries = new ArrayList<String>();
            for (var entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                var path = Path.of(entry);
                entries.add(Files.isDirectory(path)
                        ? jar(path, directory.resolve(entries.size() + ".jar")).toString() : entry);
            }
            return new AotCaches(directory, String.join(File.pathSeparator, entries));
        } catch (IOException e) {
            throw new ExampleFailure("cannot make jars of the class path: " + e.getMessage(), e);
        }
    }

    private static Path jar(Path classes, Path jar) throws IOException {
        try (var out = new JarOutputStream(Files.newOutputStream(jar)); var files = Files.walk(classes)) {
            for (var file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
        return jar;
    }

    /** The JVM's options with which a process makes its role's cache. */
    List<String> making(String role) {
        return List.of("-cp", classPath, "-XX:AOTCacheOutput=" + cache(role));
    }

    /** The JVM's options with which a process uses its role's cache; it ends at once if it cannot. */
    List<String> using(String role) {
        return List.of("-cp", classPath, "-XX:AOTMode=on", "-XX:AOTCache=" + cache(role));
    }

    private Path cache(String role) {
        return directory.resolve(role + ".aot");
    }

    @Override
    public void close() {
        try {
            FileTree.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory, e);
        }
    }
}
