// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures messages and calls of many threads, by the messaging module and by what there is without it. */
@Command(name = "messaging", sortOptions = false, sortSynopsis = false, defaultValueProvider = Benchmark.Defaults.class,
        description = "Messages and calls of many threads to one peer: by the messaging module, by writeAndFlush, and "
                + "calls also by gRPC. The raw round trip stands beside the calls of one thread. Or messages among "
                + "several nodes.%n")
final class MessagingCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(names = "--size", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            converter = Sizes.Converter.class,
            description = "Bytes in a message: 16, 1k, 1m; several with commas; 1..1m for all powers of two "
                    + "between. Default: ${DEFAULT-VALUE}.")
    private List<Sizes> sizes;

    @Option(names = "--threads", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            converter = Count.OfThreads.class,
            description = "Threads that send, or that each have one call under way; several with commas. Default: 1,4.")
    private List<Long> threads = List.of(1L, 4L);

    @Option(names = "--nodes", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            converter = Count.OfNodes.class,
            description = "Instead of two: so many processes, which all send messages to all others; several with "
                    + "commas.")
    private List<Long> nodes = List.of();

    @Override
    public Integer call() throws InterruptedException {
        common.validate();
        if (!nodes.isEmpty() && !common.pinning().equals(Pinning.NONE)) {
            throw common.rejected("--pin is for two processes, and --nodes is for more. Leave one of them out.");
        }
        var rows = new ArrayList<Row>();
        for (var size : Sizes.flatten(sizes)) {
            for (var count : threads) {
                if (nodes.isEmpty()) {
                    rows.addAll(rows(size, Math.toIntExact(count)));
                }
                for (var number : nodes) {
                    rows.addAll(allToAll(size, Math.toIntExact(count), Math.toIntExact(number)));
                }
            }
        }
        return new Report(common.output).measure(rows, List.of());
    }

    private List<Row> rows(int size, int count) {
        var rows = new ArrayList<Row>();
        var messages = scenario(Work.MESSAGES, size, count);
        var calls = scenario(Work.MESSAGE_CALLS, size, count);
        for (var netty : common.contenders()) {
            var setting = netty.server();
            rows.add(new Row(messages, new MessagingContender(setting, MessagingWay.MESSAGING)));
            rows.add(new Row(messages, new MessagingContender(setting, MessagingWay.WRITE_AND_FLUSH)));
            rows.add(new Row(calls, new MessagingContender(setting, MessagingWay.MESSAGING)));
            rows.add(new Row(calls, new MessagingContender(setting, MessagingWay.MESSAGING_LOOP)));
            if (setting.transport() == TransportKind.UCX || setting.transport() == TransportKind.EPOLL
                    || setting.transport() == TransportKind.NIO) {
                rows.add(new Row(scenario(Work.GRPC_UNARY, size, count).with(CallExecutor.DIRECT), netty));
            }
            if (count == 1) {
                rows.add(new Row(scenario(Work.LATENCY, size, 1), netty));
            }
        }
        return rows;
    }

    private List<Row> allToAll(int size, int count, int number) {
        var scenario = new Scenario(Work.ALL_TO_ALL, size, number, count, 1, 1, 0, 0, common.output.seconds(), null, null);
        return common.contenders().stream().map(netty -> new Row(scenario, new AllToAll(netty.server()))).toList();
    }

    private Scenario scenario(Work work, int size, int count) {
        return new Scenario(work, size, 1, count, 1, 1, 0, 0, common.output.seconds(), common.pinning().server(),
                common.pinning().client());
    }
}
