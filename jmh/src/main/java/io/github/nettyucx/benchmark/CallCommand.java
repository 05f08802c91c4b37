// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.Security;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command of a work that makes calls of gRPC. */
abstract class CallCommand extends WorkCommand.WithLoops {
    @Option(names = "--size", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            description = "Bytes that a message carries: 100, 1k, 1m; several with commas. Default: ${DEFAULT-VALUE}.")
    private List<ByteSize> sizes;

    @Option(names = "--at-a-time", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            converter = Count.OfThreads.class,
            description = "How many are under way at the same time; several with commas. Default: 1.")
    private List<Long> atATime = List.of(1L);

    @Option(names = "--executor", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "Where both sides handle messages: direct (on the event loop), default (gRPC's threads); both "
                    + "with a comma. Default: direct.")
    private List<CallExecutor> executors = List.of(CallExecutor.DIRECT);

    @Option(names = "--operations", paramLabel = "N", converter = Count.OfIterations.class,
            description = "Measured round trips, instead of --seconds. A tenth of them goes before as warm-up.")
    private long operations;

    @Option(names = "--tls", description = "Encrypt the connection, by the JDK's TLS.")
    private boolean tls;

    private CallCommand(Work work) {
        super(work);
    }

    @Override
    List<Scenario> scenarios() {
        var scenarios = new ArrayList<Scenario>();
        for (var size : sizes) {
            for (var count : atATime) {
                for (var executor : executors) {
                    scenarios.add(scenario(size.bytes(), 1, Math.toIntExact(count), 1, Math.ceilDiv(operations, count))
                            .with(executor).with(tls ? Security.TLS : Security.PLAINTEXT));
                }
            }
        }
        return scenarios;
    }

    @Command(name = "grpc-unary",
            description = "Unary calls of gRPC on one connection; each that ends begins the next.%n")
    static final class Unary extends CallCommand {
        Unary() {
            super(Work.GRPC_UNARY);
        }
    }

    @Command(name = "grpc-stream",
            description = "Bidirectional streams of gRPC on one connection, each with one message under way.%n")
    static final class Stream extends CallCommand {
        Stream() {
            super(Work.GRPC_STREAM);
        }
    }
}
