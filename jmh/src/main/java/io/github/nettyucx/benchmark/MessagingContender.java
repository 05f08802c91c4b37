// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import java.util.List;

/** Application threads that send by one of the ways, in a server and a client process. */
record MessagingContender(Setting setting, MessagingWay way) implements Contender {
    @Override
    public String name() {
        return way + " over " + setting.transport();
    }

    @Override
    public String lane() {
        return setting.transport() == TransportKind.UCX ? setting.lane().toString() : "-";
    }

    @Override
    public String waitMode() {
        return setting.waitMode() == null ? "-" : setting.waitMode().toString();
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        return Pair.measure(name(), scenario, interruption, (role, cpus, more) -> {
            var arguments = new ArrayList<>(List.of(role, Json.LINE.toJson(new Task(scenario, setting)), way.name()));
            arguments.addAll(more);
            return ChildProcess.start("the " + name() + " " + role, NettyContender.launcher(cpus),
                    NettyContender.JVM_OPTIONS, MessagingChild.class, arguments, Child::isReport);
        });
    }
}
