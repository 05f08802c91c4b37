// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.io.IOException;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Which processors the two processes may use, each in the language of {@code taskset -c}.
 *
 * @param server {@code null} for all
 * @param client {@code null} for all
 */
record Pinning(String server, String client) {
    static final Pinning NONE = new Pinning(null, null);
    private static final String CPUS = "\\d+(?:-\\d+)?(?:,\\d+(?:-\\d+)?)*";
    private static final Pattern FORM = Pattern.compile("(" + CPUS + "):(" + CPUS + ")");

    /**
     * @throws IllegalArgumentException saying what is wrong with the text and what was expected
     */
    static Pinning parse(String text) {
        if (text.equals("none")) {
            return NONE;
        }
        var matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' does not name processors. Expected those of the server "
                    + "and those of the client, as in 0:1 or 0-3:4,5, or none.");
        }
        var pinning = new Pinning(matcher.group(1), matcher.group(2));
        requireProcessors(pinning.server);
        requireProcessors(pinning.client);
        return pinning;
    }

    /** Asks the one who will have to do it. */
    private static void requireProcessors(String cpus) {
        try {
            var process = new ProcessBuilder("taskset", "-c", cpus, "true").redirectErrorStream(true).start();
            var output = new String(process.getInputStream().readAllBytes()).strip();
            if (process.waitFor() != 0) {
                throw new IllegalArgumentException("this process cannot use processors " + cpus + ": " + output);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("there is no taskset on this machine, which pins processes. Install "
                    + "util-linux, or leave --pin out.", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalArgumentException("interrupted", e);
        }
    }

    /** For picocli, whose error message is then the one of {@link #parse}. */
    static final class Converter implements ITypeConverter<Pinning> {
        @Override
        public Pinning convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
