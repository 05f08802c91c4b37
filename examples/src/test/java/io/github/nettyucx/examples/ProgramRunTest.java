// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ProgramRunTest {
    private static ProgramRun run(String script, long seconds) throws Exception {
        return ProgramRun.of(new ProcessBuilder("sh", "-c", script), seconds);
    }

    @Test
    void hasAllThatWasPrintedAndTheExitCode() throws Exception {
        assertEquals(new ProgramRun(7, "one\ntwo\n"), run("echo one; cat; echo two >&2; exit 7", 30));
    }

    /** With its output open, and closed. */
    @ParameterizedTest
    @ValueSource(strings = {"exec sleep 600", "exec sleep 600 > /dev/null 2>&1"})
    void endsOneThatHangs(String script) {
        var failure = assertThrows(IOException.class, () -> run("echo begun; " + script, 1));
        assertEquals("it did not end within 1 s", failure.getMessage());
    }
}
