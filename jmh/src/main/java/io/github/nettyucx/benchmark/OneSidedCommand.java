// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures operations on a peer's memory, beside messages over Netty and the limit. */
@Command(name = OneSidedCommand.NAME, sortOptions = false, sortSynopsis = false,
        description = "Operations on a peer's memory, on one connection: put, get, put with a notification, and for 8 "
                + "bytes atomic operations. Beside them a request that the owner answers with as many bytes, round trips "
                + "and messages over Netty, and ucx_perftest. Of latency, put and notify, requests and messages are "
                + "there and back, the others one operation.%n")
final class OneSidedCommand implements Callable<Integer> {
    static final String NAME = "one-sided";
    private static final List<Work> WORKS = List.of(Work.LATENCY, Work.THROUGHPUT, Work.BIDIRECTIONAL);

    @Option(names = "--size", paramLabel = "BYTES[,BYTES]", hideParamSyntax = true, split = ",",
            converter = Sizes.Converter.class,
            description = "Of an operation: a size, or the powers of two of a range as in 1..1m; several with commas. "
                    + "Default: 8,64,4k,64k.")
    private List<Sizes> sizes = List.of(new Sizes(List.of(8, 64, 4096, 65_536)));

    @Option(names = "--work", paramLabel = "WORK[,WORK]", hideParamSyntax = true, split = ",",
            converter = AllCommand.WorkConverter.class,
            description = "latency, throughput or bidirectional; several with commas. Default: all of them.")
    private List<Work> works = WORKS;

    @Option(names = "--lane", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "shm, tcp or rdma; several with commas. Default: shm.")
    private List<Lane> lanes = List.of(Lane.SHM);

    @Option(names = "--pin", paramLabel = "SERVER:CLIENT", converter = Pinning.Converter.class,
            description = "The processors that the two processes may use, as in 0:1 or 0-3:4,5. Default: all.")
    private Pinning pinning = Pinning.NONE;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        output.validate();
        if (lanes.contains(Lane.AUTO) || lanes.contains(Lane.SOCKET)) {
            throw output.rejected("--lane takes shm, tcp and rdma here: over the kernel's socket there is no access to "
                    + "a peer's memory.");
        }
        if (!WORKS.containsAll(works)) {
            throw output.rejected("--work takes latency, throughput and bidirectional here.");
        }
        var rows = new ArrayList<Row>();
        for (var work : works) {
            for (var size : Sizes.flatten(sizes)) {
                var scenario = new Scenario(work, size, 1, 1, 1, work == Work.LATENCY ? 1 : Scenario.defaultFlush(size),
                        0, 0, output.seconds(), pinning.server(), pinning.client());
                contenders(scenario).forEach(contender -> rows.add(new Row(scenario, contender)));
            }
        }
        return new Report(output).measure(rows, OneSidedTargets.among(rows));
    }

    private List<Contender> contenders(Scenario scenario) {
        var contenders = new ArrayList<Contender>();
        var perftest = Perftest.bundled();
        for (var lane : lanes) {
            for (var kind : OneSided.Kind.values()) {
                if (kind.knows(scenario)) {
                    contenders.add(new OneSided(kind, lane));
                    if (perftest != null && kind.limit(scenario.work()) != null) {
                        contenders.add(new Perftest(lane, perftest, kind.limit(scenario.work())));
                    }
                }
            }
            contenders.add(new NettyContender(new Setting(TransportKind.UCX, lane, WaitMode.ADAPTIVE)));
            if (perftest != null && Perftest.knows(scenario, lane)) {
                contenders.add(new Perftest(lane, perftest));
            }
        }
        return contenders;
    }
}
