// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What the command lines of all examples have. */
public abstract class ExampleCommand implements Callable<Integer> {
    /** In the help these follow the options of the example, which have no order but that of their fields. */
    private static final int LAST = 1;

    @Spec
    private CommandSpec spec;

    @Option(names = "--verbose", order = LAST, description = "Show stack traces of failures.")
    private boolean verbose;

    @Option(names = {"-h", "--help"}, order = LAST, usageHelp = true, description = "Show this help.")
    private boolean help;

    protected final Arguments arguments() {
        return new Arguments(spec);
    }

    protected final boolean isVerbose() {
        return verbose;
    }
}
