// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import io.github.nettyucx.examples.Choice;
import io.github.nettyucx.examples.ExampleCommand;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.TransportKind;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Joins UCX to ordinary TCP: the command line of it. */
@Command(
        description = {
            "Joins UCX to ordinary TCP: takes connections on one side and makes one on the other for each, so that a "
                    + "TCP program can talk to a UCX application, or the other way round.%n",
            "Passes on bytes, the end of them in each direction, resets, and the pace of the slower side. Prints "
                    + "'listening HOST:PORT', and runs until it is stopped.%n"},
        customSynopsis = {"./run-example.sh relay --listen SIDE --to SIDE [OPTION]...", ""},
        sortOptions = false,
        footer = {
            "",
            "Examples:",
            "  TCP programs to a UCX server:",
            "    ./run-example.sh relay --listen tcp:127.0.0.1:8080 --to ucx:node1:7777",
            "  UCX clients to a TCP server:",
            "    ./run-example.sh relay --listen ucx:0.0.0.0:7777 --to tcp:127.0.0.1:8080"})
public final class Relay extends ExampleCommand {
    private static final String NAME = "relay";

    @Option(names = "--listen", paramLabel = "SIDE", required = true, converter = Side.Converter.class,
            description = "Where connections come from: ucx:HOST:PORT or tcp:HOST:PORT; port 0 for any that is free.")
    private Side listen;

    @Option(names = "--to", paramLabel = "SIDE", required = true, converter = Side.Converter.class,
            description = "Where they go: ucx:HOST:PORT or tcp:HOST:PORT.")
    private Side to;

    @Option(names = "--log", description = "Tell of each connection, when it is over, what it was.")
    private boolean log;

    @Option(names = "--lane", paramLabel = "NAME", converter = Choice.OfLane.class,
            description = "What ucx may use: shm (shared memory), tcp or auto (the fastest there is). Default: auto.")
    private Lane lane = Lane.AUTO;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new Relay(), args);
    }

    @Override
    public Integer call() throws InterruptedException {
        if (to.address().port() == 0) {
            throw arguments().rejected("--to " + to + " names no port. Give the one that the "
                    + "server listens on.");
        }
        if (lane != Lane.AUTO && listen.transport() != TransportKind.UCX && to.transport() != TransportKind.UCX) {
            throw arguments().rejected("--lane is about ucx, and both sides are tcp. Leave it "
                    + "out, or give one of the sides as ucx:HOST:PORT.");
        }
        lane.apply();
        Consumer<String> told = log ? System.err::println : _ -> { };
        try (var running = RelayServer.start(listen, to, told)) {
            Runtime.getRuntime().addShutdownHook(new Thread(running::close, "stop-relay"));
            System.out.println("listening " + running.address());
            running.awaitStop();
        }
        return 0;
    }
}
