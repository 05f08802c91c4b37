// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the script that gets UCX at build time does on a machine that lacks something. */
class FetchUcxTest {

    private static final Path SCRIPT = Path.of("src/build/fetch-ucx.sh").toAbsolutePath();
    private static final String SHELL = "/bin/sh";
    private static final List<String> TOOLS = List.of("basename", "cat", "cksum", "dirname", "find", "grep", "mkdir", "mv",
            "rm", "sha256sum", "tail", "uname");
    private static final String NO_PIP = "there is no pip";

    @TempDir
    private Path directory;
    private Path tools;
    private Path build;

    /** The tools that each machine has, and no Python that can do anything. */
    @BeforeEach
    void makeAMachineWithoutPip() throws IOException {
        tools = Files.createDirectory(directory.resolve("bin"));
        build = Files.createDirectory(directory.resolve("build"));
        for (String tool : TOOLS) {
            Path real = Stream.of(System.getenv("PATH").split(":")).map(each -> Path.of(each, tool))
                    .filter(Files::isExecutable).findFirst().orElseThrow();
            command(tool, "exec " + real + " \"$@\"");
        }
        command("python3", "exit 1");
    }

    private void command(String name, String script) throws IOException {
        Path file = tools.resolve(name);
        Files.writeString(file, "#!" + SHELL + "\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private record Run(int exit, String output) {
    }

    private Run run(Map<String, String> environment) throws Exception {
        Path output = directory.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(SHELL, SCRIPT.toString(), build.toString())
                .redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        builder.environment().put("PATH", tools.toString());
        builder.environment().put("NETTY_UCX_CACHE", directory.resolve("cache").toString());
        Process process = builder.start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it does not end");
        return new Run(process.exitValue(), Files.readString(output));
    }

    private void assertNothingIsTakenForDone() {
        assertFalse(Files.exists(build.resolve("ucx-stamp")), "the next build would not try again");
    }

    @Test
    void inCiABuildWithoutUcxFails() throws Exception {
        command("llvm-strip", "echo a release");
        Run run = run(Map.of("CI", "true"));
        assertEquals(1, run.exit, run.output);
        assertTrue(run.output.contains(NO_PIP), run.output);
        assertTrue(run.output.contains("CI has to have it"), run.output);
        assertNothingIsTakenForDone();
    }

    @Test
    void elsewhereItGoesOnWithoutUcxAndSaysWhy() throws Exception {
        command("llvm-strip", "echo a release");
        Run run = run(Map.of());
        assertEquals(0, run.exit, run.output);
        assertTrue(run.output.contains(NO_PIP), run.output);
        for (String classifier : List.of("linux-x86_64", "linux-aarch_64")) {
            try (Stream<Path> files = Files.list(build.resolve("natives").resolve(classifier))) {
                assertEquals(List.of(), files.toList());
            }
        }
        assertNothingIsTakenForDone();
    }

    @Test
    void inCiABuildThatCannotStripFails() throws Exception {
        Run run = run(Map.of("CI", "true"));
        assertEquals(1, run.exit, run.output);
        assertTrue(run.output.contains("There is no llvm-strip") && run.output.contains("package llvm"), run.output);
        assertNothingIsTakenForDone();
    }
}
