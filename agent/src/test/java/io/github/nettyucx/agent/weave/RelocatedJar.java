// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;

/** Puts a library into another package, with all that uses it, as libraries do that bring it inside. */
public final class RelocatedJar {

    private RelocatedJar() {
    }

    /** @param application classes of the tests, with what is nested in them */
    public static Path make(Path target, String root, List<Path> jars, Class<?>... application) throws IOException {
        Relocation relocation = new Relocation(root);
        try (OutputStream file = Files.newOutputStream(target); JarOutputStream out = new JarOutputStream(file)) {
            Set<String> names = new HashSet<>();
            for (Path jar : jars) {
                try (JarFile in = new JarFile(jar.toFile())) {
                    for (JarEntry entry : in.stream().filter(each -> each.getName().endsWith(".class")).toList()) {
                        try (InputStream bytes = in.getInputStream(entry)) {
                            add(out, names, relocation, entry.getName(), bytes.readAllBytes());
                        }
                    }
                }
            }
            for (Class<?> each : application) {
                Path directory = Path.of(each.getResource(each.getSimpleName() + ".class").getPath()).getParent();
                try (var files = Files.newDirectoryStream(directory, each.getSimpleName() + "*.class")) {
                    for (Path classFile : files) {
                        add(out, names, relocation,
                                each.getPackageName().replace('.', '/') + '/' + classFile.getFileName(),
                                Files.readAllBytes(classFile));
                    }
                }
            }
        }
        return target;
    }

    private static void add(JarOutputStream out, Set<String> names, Relocation relocation, String name, byte[] bytes)
            throws IOException {
        String mapped = relocation.map(name);
        if (!name.startsWith("META-INF/") && !name.equals("module-info.class") && names.add(mapped)) {
            out.putNextEntry(new ZipEntry(mapped));
            out.write(relocation.map(bytes));
            out.closeEntry();
        }
    }
}
