// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Progress;
import java.io.PrintStream;
import java.util.Locale;

/** For who reads a log instead of watching a terminal: a line for each measurement. */
final class LineProgress implements Progress {
    private final PrintStream out;
    private final long start = System.nanoTime();
    private String what;

    LineProgress(PrintStream out) {
        this.out = out;
    }

    /** For a terminal one line that overwrites itself, else plain lines; on standard error. */
    static Progress create() {
        var terminal = Progress.onTerminal();
        return terminal == SILENT ? new LineProgress(System.err) : terminal;
    }

    @Override
    public void begin(String what) {
        this.what = what;
    }

    @Override
    public void at(double fraction) {
        var seconds = (System.nanoTime() - start) / 1e9;
        out.println(what + (fraction > 0
                ? String.format(Locale.ROOT, " (%.0f s left)", seconds * (1 - fraction) / fraction) : ""));
    }
}
