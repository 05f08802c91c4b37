// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.LocalPair;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures one setting after the other on this host, each with a server and a client process of its own: what one
 * transport makes of the JIT's profile, or leaves behind in memory, does not touch the next.
 */
final class LocalComparison {
    private static final String ANY_LOCAL_PORT = "127.0.0.1:0";

    private final Workload load;
    private final Progress progress;

    LocalComparison(Workload load, Progress progress) {
        this.load = load;
        this.progress = progress;
    }

    /**
     * @param settings what to measure
     * @param results receives each result as it comes; keeps what there is if a later measurement fails
     */
    void run(List<Setting> settings, List<Measurement> results) throws InterruptedException {
        for (var i = 0; i < settings.size(); i++) {
            var setting = settings.get(i);
            progress.begin(settings.size() == 1 ? setting.toString()
                    : setting + " (" + (i + 1) + " of " + settings.size() + ")");
            try {
                results.add(measure(setting));
            } finally {
                progress.end();
            }
        }
    }

    private Measurement measure(Setting setting) throws InterruptedException {
        var pair = new LocalPair(setting.toString(), PingPong.class, progress);
        return pair.run(Measurement.class, arguments(setting, List.of("--server", ANY_LOCAL_PORT)),
                address -> arguments(setting, clientTask(address)));
    }

    private List<String> arguments(Setting setting, List<String> task) {
        var arguments = new ArrayList<>(task);
        arguments.addAll(setting.arguments());
        arguments.addAll(List.of("--threads", Integer.toString(load.threads()), PingPong.CHILD_OPTION));
        return arguments;
    }

    private List<String> clientTask(String address) {
        return List.of("--connect", address,
                "--size", Integer.toString(load.size().bytes()),
                "--connections", Integer.toString(load.connections()),
                "--iterations", Long.toString(load.iterations()),
                "--warmup", Long.toString(load.warmup()));
    }
}
