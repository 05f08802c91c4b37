// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.util.LinkedHashSet;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of every work: who is measured, and where. */
final class CommonOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--transport", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "ucx, nio, epoll or io_uring; several with commas. Default: ucx,nio,epoll.")
    private List<TransportKind> transports = List.of(TransportKind.UCX, TransportKind.NIO, TransportKind.EPOLL);

    @Option(names = "--lane", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = Lane.HELP + "; several with commas. Default: auto.")
    private List<Lane> lanes = List.of(Lane.AUTO);

    @Option(names = "--wait", paramLabel = "HOW[,HOW]", hideParamSyntax = true, split = ",",
            description = "How ucx waits: spin, adaptive or park; several with commas. Default: adaptive.")
    private List<WaitMode> waits = List.of(WaitMode.ADAPTIVE);

    @Option(names = "--pin", paramLabel = "SERVER:CLIENT", converter = Pinning.Converter.class,
            description = "The processors that the two processes may use, as in 0:1 or 0-3:4,5. Default: all.")
    private Pinning pinning = Pinning.NONE;

    @Mixin
    OutputOptions output;

    Pinning pinning() {
        return pinning;
    }

    List<Lane> lanes() {
        return distinct(lanes);
    }

    /** Before anything is measured: what is wrong with the values taken together. */
    void validate() {
        output.validate();
        if (!transports.contains(TransportKind.UCX)) {
            for (var option : List.of("--lane", "--wait")) {
                if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                    throw rejected(option + " is about ucx, which is not among the transports given. Add ucx to "
                            + "--transport, or leave " + option + " out.");
                }
            }
        }
    }

    ParameterException rejected(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** The transports, with each lane and each way to wait where they have a choice. */
    List<NettyContender> contenders() {
        var settings = new LinkedHashSet<Setting>();
        distinct(waits).forEach(wait -> settings.addAll(Setting.all(List.of(TransportKind.UCX), lanes(), wait)));
        if (!transports.contains(TransportKind.UCX)) {
            settings.clear();
        }
        var others = distinct(transports).stream().filter(transport -> transport != TransportKind.UCX).toList();
        settings.addAll(Setting.all(others, List.of(Lane.AUTO), null));
        return settings.stream().map(NettyContender::new).toList();
    }

    boolean hasUcx() {
        return transports.contains(TransportKind.UCX);
    }

    private static <T> List<T> distinct(List<T> values) {
        return List.copyOf(new LinkedHashSet<>(values));
    }
}
