// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private long nanos = 5;
    private final Progress progress =
            new Progress.OneLine(new PrintStream(shown, true, StandardCharsets.UTF_8), () -> nanos);

    @Test
    void drawsABarWithPercentAndTimeLeft() {
        progress.begin("nio (2 of 2)");
        nanos += TimeUnit.SECONDS.toNanos(100);
        progress.at(0.25);
        nanos += TimeUnit.SECONDS.toNanos(7);
        progress.at(0.5);
        var lines = shown.toString(StandardCharsets.UTF_8).split("\r");
        assertEquals("nio (2 of 2)  [........................]   0 %", lines[1]);
        assertEquals("nio (2 of 2)  [######..................]  25 %", lines[2]);
        assertEquals("nio (2 of 2)  [############............]  50 %  14 s left", lines[3]);
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
