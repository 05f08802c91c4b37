// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A JVM of its own, because a process loads UCX once. Runs {@link LoadMain}. */
final class ChildJvm {
    /**
     * How it ended.
     *
     * @param exitCode of the process
     * @param output   stdout and stderr in one
     */
    record Result(int exitCode, String output) {
        /** The rest of the line that starts with this word. */
        String line(String word) {
            return output.lines().filter(l -> l.startsWith(word + " ")).map(l -> l.substring(word.length() + 1))
                    .findFirst().orElseThrow(() -> new AssertionError("no line '" + word + "' in:\n" + output));
        }
    }

    private final List<String> options = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx64m"));
    private final List<String> classPath = new ArrayList<>(List.of(locationOf(UcxLibrary.class), locationOf(LoadMain.class)));
    private final Map<String, String> environment = new HashMap<>();
    private boolean nativeAccess = true;
    private Path directory;

    ChildJvm library(Object choice) {
        return property(UcxLibrary.PROPERTY, choice);
    }

    ChildJvm property(String name, Object value) {
        options.add("-D" + name + "=" + value);
        return this;
    }

    ChildJvm option(String option) {
        options.add(option);
        return this;
    }

    ChildJvm environment(String name, Object value) {
        environment.put(name, value.toString());
        return this;
    }

    ChildJvm classPath(Path entry) {
        classPath.add(entry.toString());
        return this;
    }

    /** Where it works; otherwise where this JVM does. */
    ChildJvm directory(Path working) {
        directory = working;
        return this;
    }

    ChildJvm withoutNativeAccess() {
        nativeAccess = false;
        return this;
    }

    Process start(String... actions) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        if (nativeAccess) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), LoadMain.class.getName()));
        command.addAll(List.of(actions));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // The machine's own settings must not decide what these tests see.
        builder.environment().keySet().removeIf(
                name -> name.startsWith("UCX_") || name.startsWith("LD_") || name.equals("HPCX_UCX_DIR"));
        builder.environment().putAll(environment);
        if (directory != null) {
            builder.directory(directory.toFile());
        }
        return builder.start();
    }

    Result run(String... actions) throws IOException, InterruptedException {
        return finish(start(actions));
    }

    static Result finish(Process process) throws IOException, InterruptedException {
        Thread guard = Thread.ofVirtual().start(() -> {
            try {
                if (!process.waitFor(60, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int exitCode = process.waitFor();
        guard.join();
        return new Result(exitCode, output);
    }

    private static String locationOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
