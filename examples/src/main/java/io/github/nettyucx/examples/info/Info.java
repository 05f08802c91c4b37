// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.info;

import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.ExampleCommand;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.Lane;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** Tells all that a bug report needs: the command line of it. */
@Command(
        description = {
            "Prints what a bug report needs: which UCX is used and what it offers, the machine and its limits, Java "
                    + "and Netty, settings, and what would carry a connection to this host.%n",
            "Ends with 0 if UCX can be used and such connections can be made, else with 1, and says why.%n"},
        customSynopsis = {"./run-example.sh info [OPTION]...", ""},
        sortOptions = false,
        footer = {
            "",
            "Examples:",
            "  ./run-example.sh info > report.txt",
            "  ./run-example.sh -Dio.github.nettyucx.library=system info --devices"})
public final class Info extends ExampleCommand {
    private static final String NAME = "info";

    @Option(names = "--lane", paramLabel = "NAME", description = Lane.HELP + ". Default: auto.")
    private Lane lane = Lane.AUTO;

    @Option(names = "--devices", description = "Add what 'ucx_info -d' prints, where UCX has that program.")
    private boolean devices;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new Info(), args);
    }

    @Override
    public Integer call() throws InterruptedException {
        lane.apply();
        var report = new Report();
        var usable = UcxFacts.addTo(report);
        // Without UCX they go over the socket.
        usable &= ConnectionProbe.addTo(report);
        HostFacts.addTo(report);
        Console.print(report.render());
        if (devices) {
            // Behind all else: the program may hang, and that is worth a report as well.
            Console.print("\n" + UcxFacts.devices().render());
        }
        return usable ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
