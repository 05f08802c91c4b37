// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.SelfSignedCertificate;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.util.ArrayList;
import java.util.List;

/**
 * One of Netty's transports, in a server and a client process that live for one measurement.
 *
 * @param client the server's own transport, or another: what a server of this transport does for ordinary TCP clients
 */
record NettyContender(Setting server, Setting client) implements Contender {
    /** The heap's pages are touched at the start, so that a growing heap does not look like memory of connections. */
    static final List<String> JVM_OPTIONS = List.of("-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-Xmn256m",
            "-XX:+AlwaysPreTouch", "-Dio.netty.leakDetectionLevel=disabled");

    NettyContender(Setting setting) {
        this(setting, setting);
    }

    /** What a server of this transport does for clients that know nothing of it. */
    static NettyContender plainClients() {
        return new NettyContender(new Setting(TransportKind.UCX, Lane.AUTO, WaitMode.ADAPTIVE),
                new Setting(TransportKind.EPOLL, Lane.AUTO, null));
    }

    @Override
    public String name() {
        return (client.equals(server) ? "" : client.transport() + " to ") + server.transport();
    }

    @Override
    public String lane() {
        return client.transport() == TransportKind.UCX ? client.lane().toString() : "-";
    }

    @Override
    public String waitMode() {
        return server.waitMode() == null ? "-" : server.waitMode().toString();
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        if (scenario.work().isOfStarts()) {
            return new Starts(server, client, scenario, interruption).measure();
        }
        if (scenario.work().isOfFirstSeconds()) {
            return new FirstSeconds(server, client, scenario, interruption).measure();
        }
        if (scenario.isPlain()) {
            return measure(scenario, null, interruption);
        }
        try (var certificate = SelfSignedCertificate.create()) {
            return measure(scenario, certificate.directory().toString(), interruption);
        }
    }

    private Sample measure(Scenario scenario, String certificate, Interruption interruption)
            throws InterruptedException {
        return Pair.measure(name(), scenario, interruption, (role, cpus, more) -> {
            var setting = role.equals(Child.SERVER) ? server : client;
            var arguments = new ArrayList<>(List.of(role, Json.LINE.toJson(new Task(scenario, setting, certificate))));
            arguments.addAll(more);
            return ChildProcess.start("the " + setting + " " + role, launcher(cpus), JVM_OPTIONS, Child.class, arguments,
                    Child::isReport);
        });
    }

    /** What has a process keep to those processors; {@code null} for all. */
    static List<String> launcher(String cpus) {
        return cpus == null ? List.of() : List.of("taskset", "-c", cpus);
    }
}
