// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Has all classes of the project that lie in directories loaded before there are no descriptors left to load them with.
 * An application's lie in jars, which are open.
 */
final class LoadedClasses {

    private static final String PACKAGE = "io/github/nettyucx";
    private static final String SUFFIX = ".class";

    private LoadedClasses() {
    }

    static void loadAll() throws IOException {
        for (String entry : System.getProperty("java.class.path").split(":")) {
            Path directory = Path.of(entry);
            Path classes = directory.resolve(PACKAGE);
            if (Files.isDirectory(classes)) {
                try (Stream<Path> files = Files.walk(classes)) {
                    files.map(file -> directory.relativize(file).toString()).filter(name -> name.endsWith(SUFFIX))
                            .forEach(LoadedClasses::load);
                }
            }
        }
    }

    private static void load(String file) {
        String name = file.substring(0, file.length() - SUFFIX.length()).replace('/', '.');
        try {
            Class.forName(name, false, LoadedClasses.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            // Of a test that is not on the class path with all it needs.
        }
    }
}
