// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.HostAndPort;

/** A process of {@link MessagingContender}, as a {@link Child}. */
final class MessagingChild {
    private MessagingChild() {
    }

    /** @param args the role, the task as JSON, the way, and for a client the server's address and process */
    public static void main(String[] args) {
        Child.run(() -> {
            var task = Json.LINE.fromJson(args[1], Task.class);
            task.setting().apply();
            task.setting().transport().ensureAvailable();
            var way = MessagingWay.valueOf(args[2]);
            if (args[0].equals(Child.SERVER)) {
                if (way == MessagingWay.WRITE_AND_FLUSH) {
                    var server = BenchmarkServer.start(task);
                    Child.serve(server, server.address().toString());
                } else {
                    var server = MessagingServer.start(task);
                    Child.serve(server, server.address().toString());
                }
                return;
            }
            var address = HostAndPort.parse(args[3]);
            var pid = Long.parseLong(args[4]);
            Child.measure(barrier -> new MessagingClient(task, way, address, pid, barrier));
        });
    }
}
