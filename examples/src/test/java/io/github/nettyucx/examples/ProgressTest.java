// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private final Progress progress = new Progress.OneLine(new PrintStream(shown, true, StandardCharsets.UTF_8));

    @Test
    void drawsABarWithPercentAndTimeLeft() {
        progress.begin("nio (2 of 2)");
        progress.at(0.25);
        progress.at(0.5);
        var lines = shown.toString(StandardCharsets.UTF_8).split("\r");
        assertEquals("nio (2 of 2)  [........................]   0 %", lines[1]);
        assertEquals("nio (2 of 2)  [######..................]  25 %", lines[2]);
        assertTrue(lines[3].matches("nio \\(2 of 2\\)  \\[#{12}\\.{12}\\]  50 %  1 s left"), lines[3]);
    }

    @Test
    void leavesNothingBehind() {
        progress.begin("ucx");
        progress.at(0.25);
        var drawn = shown.toString(StandardCharsets.UTF_8).split("\r")[2].length();
        shown.reset();
        progress.end();
        assertEquals("\r" + " ".repeat(drawn) + "\r", shown.toString(StandardCharsets.UTF_8));
        shown.reset();
        progress.end();
        assertEquals("", shown.toString(StandardCharsets.UTF_8));
    }
}
