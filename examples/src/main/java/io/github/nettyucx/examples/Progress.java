// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/** Is told how far a measurement has come; called by one thread. */
public interface Progress {
    Progress SILENT = new Progress() {
    };

    default void begin(String what) {
    }

    /**
     * @param fraction 0 to 1
     */
    default void at(double fraction) {
    }

    default void end() {
    }

    /**
     * A part of this, which is told of how far that part has come.
     *
     * @param begin of the part, 0 to 1
     * @param parts how many of its size make the whole
     */
    default Progress part(double begin, int parts) {
        var whole = this;
        return new Progress() {
            @Override
            public void at(double fraction) {
                whole.at(begin + fraction / parts);
            }
        };
    }

    /** For a person if one is watching, else silent. */
    static Progress onTerminal() {
        var console = System.console();
        if (console == null || !console.isTerminal()) {
            return SILENT;
        }
        var line = new OneLine(System.err, System::nanoTime);
        Runtime.getRuntime().addShutdownHook(new Thread(line::interrupted, "end-progress"));
        return line;
    }

    /** A line that overwrites itself, and is gone in the end. */
    final class OneLine implements Progress {
        private static final int BAR = 24;

        private final PrintStream out;
        private final LongSupplier clock;
        private String what = "";
        private double startFraction;
        private long startTime;
        private volatile int width;

        /**
         * @param clock as {@link System#nanoTime}
         */
        OneLine(PrintStream out, LongSupplier clock) {
            this.out = out;
            this.clock = clock;
        }

        @Override
        public void begin(String what) {
            this.what = what;
            startFraction = 0;
            show(render(0, Double.NaN));
        }

        @Override
        public void at(double fraction) {
            var done = Math.clamp(fraction, 0, 1);
            if (startFraction == 0) {
                // The time until now went into processes and connections, and tells nothing about the time to come.
                startFraction = done;
                startTime = clock.getAsLong();
            }
            var seconds = (clock.getAsLong() - startTime) / 1e9;
            var gained = done - startFraction;
            show(render(done, gained > 0 ? seconds * (1 - done) / gained : Double.NaN));
        }

        @Override
        public void end() {
            if (width > 0) {
                show("");
            }
        }

        /** Leaves the line as it is, and the terminal's next output on a line of its own. */
        private void interrupted() {
            if (width > 0) {
                out.println();
            }
        }

        private String render(double done, double secondsLeft) {
            var filled = (int) Math.round(done * BAR);
            var text = String.format(Locale.ROOT, "%s  [%s%s] %3d %%", what, "#".repeat(filled),
                    ".".repeat(BAR - filled), (int) (done * 100));
            return Double.isNaN(secondsLeft) ? text : text + String.format(Locale.ROOT, "  %s left", left(secondsLeft));
        }

        private static String left(double seconds) {
            var whole = (long) Math.ceil(seconds);
            return whole < 100 ? whole + " s" : (whole + 59) / 60 + " min";
        }

        private void show(String text) {
            out.print("\r" + text + " ".repeat(Math.max(0, width - text.length())) + (text.isEmpty() ? "\r" : ""));
            out.flush();
            width = text.length();
        }
    }
}
