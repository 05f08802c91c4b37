// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A JVM of its own, for what might end the process or needs another environment. */
final class JavaProgram {

    private static final String LIBRARY = "io.github.nettyucx.library";

    private JavaProgram() {
    }

    /**
     * Runs a main class of the tests on the UCX that these run on; fails if it does not exit with 0.
     *
     * @param directory   for the output
     * @param environment variables, as in {@code NAME=value}
     * @return the lines of the output
     */
    static List<String> run(Path directory, Class<?> main, String... environment) throws Exception {
        List<String> command = new ArrayList<>(List.of("env"));
        command.addAll(List.of(environment));
        command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
                "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + directory.resolve("hs_err.log"),
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        if (System.getProperty(LIBRARY) != null) {
            command.add("-D" + LIBRARY + '=' + System.getProperty(LIBRARY));
        }
        command.add(main.getName());
        return CProgram.run(directory, command.toArray(String[]::new));
    }
}
