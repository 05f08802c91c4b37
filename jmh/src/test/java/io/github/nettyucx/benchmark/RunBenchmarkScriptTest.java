// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script, as far as it decides what to build before Java reads the arguments. */
class RunBenchmarkScriptTest {
    private static final Path SCRIPT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("run-benchmark.sh");
    /** Only the function: the script itself would begin to build. */
    private static final String ASK = "source <(sed -n '/^starts_applications()/,/^}/p' \"$0\"); "
            + "if starts_applications \"$@\"; then echo true; else echo false; fi";

    @ParameterizedTest
    @Timeout(60)
    @CsvSource(delimiter = '|', value = {
        "all                                | true",
        "applications;--pin;0:1             | true",
        "latency                            | false",
        "all;--only;latency                 | false",
        "all;--only;latency,applications    | true",
        "all;--only;latency, applications   | true",
        "all;--only;applications ,latency   | true",
        "all;--only= Applications           | true",
        "all;--help                         | false"})
    void applicationsAreBuiltWhereJavaStartsThem(String arguments, boolean built) throws Exception {
        var command = new ArrayList<>(List.of("bash", "-c", ASK, SCRIPT.toString()));
        command.addAll(List.of(arguments.split(";")));
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), text);
        assertEquals(Boolean.toString(built), text.strip());
    }
}
