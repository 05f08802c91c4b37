// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.echo;

import io.github.nettyucx.examples.ExampleCommand;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Sends standard input to a server that returns it: the command line of it. */
@Command(
        description = {
            "Sends standard input to a server that returns it, and prints what comes back.%n",
            "Without --server or --connect both sides run in this process. Ends when the input does, after all of it "
                    + "came back.%n"},
        customSynopsis = {
            "./run-example.sh echo [OPTION]...",
            "       ./run-example.sh echo --server HOST:PORT [OPTION]...",
            "       ./run-example.sh echo --connect HOST:PORT [OPTION]...",
            ""},
        sortOptions = false,
        footer = {
            "",
            "Examples:",
            "  ./run-example.sh echo",
            "  ./run-example.sh echo < big-file | cmp - big-file",
            "  ./run-example.sh echo --server [::]:7777",
            "  ./run-example.sh echo --connect node1:7777"})
public final class Echo extends ExampleCommand {
    private static final String NAME = "echo";
    private static final HostAndPort ANY_LOCAL_PORT = new HostAndPort("127.0.0.1", 0);

    @Option(names = "--server", paramLabel = "HOST:PORT",
            description = "Serve on this address until stopped; prints 'listening HOST:PORT'.")
    private HostAndPort server;

    @Option(names = "--connect", paramLabel = "HOST:PORT", description = "Send to the server at this address.")
    private HostAndPort connect;

    @Option(names = "--transport", paramLabel = "NAME",
            description = "ucx, nio, epoll or io_uring; the same on both sides. Default: ucx.")
    private TransportKind transport = TransportKind.UCX;

    @Option(names = "--lane", paramLabel = "NAME", description = Lane.HELP + ". Default: auto.")
    private Lane lane;

    @Option(names = "--wait", paramLabel = "HOW",
            description = "How ucx waits for data: spin, adaptive or park. Default: adaptive.")
    private WaitMode wait;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new Echo(), args);
    }

    @Override
    public Integer call() throws InterruptedException {
        validate();
        if (lane != null) {
            lane.apply();
        }
        if (wait != null) {
            wait.apply();
        }
        if (server != null) {
            serve();
        } else if (connect != null) {
            send(connect);
        } else {
            try (var both = EchoServer.start(transport, ANY_LOCAL_PORT)) {
                send(both.address());
            }
        }
        return 0;
    }

    private void serve() throws InterruptedException {
        try (var running = EchoServer.start(transport, server)) {
            Runtime.getRuntime().addShutdownHook(new Thread(running::close, "stop-server"));
            System.out.println("listening " + running.address());
            running.awaitStop();
        }
    }

    private void send(HostAndPort address) throws InterruptedException {
        var console = System.console();
        var watched = console != null && console.isTerminal();
        // Bytes, not characters: System.out would be fine too, but its buffer is one more copy.
        var out = new FileOutputStream(FileDescriptor.out);
        new EchoClient(transport, System.in, out).run(address, connectedLane -> {
            if (watched) {
                System.err.println("Connected to " + address + " with " + transport + " over " + connectedLane
                        + ". Type a line; Ctrl-D ends.");
            }
        });
    }

    private void validate() {
        arguments().requireOneRole(server, connect);
        arguments().requirePort("--connect", connect);
        if (transport != TransportKind.UCX && (lane != null || wait != null)) {
            throw arguments().rejected((lane != null ? "--lane" : "--wait") + " is about ucx, and the transport is "
                    + transport + ". Leave one of the two out.");
        }
    }
}
