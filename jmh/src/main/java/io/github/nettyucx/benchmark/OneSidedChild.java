// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.HostAndPort;

/** A process of {@link OneSided}: as a {@link Child}. */
final class OneSidedChild {
    private OneSidedChild() {
    }

    /**
     * @param args the role, the plan as JSON, and for a client the server's address and process
     */
    public static void main(String[] args) {
        Child.run(() -> {
            var plan = Json.LINE.fromJson(args[1], OneSided.Plan.class);
            plan.setting().apply();
            plan.setting().transport().ensureAvailable();
            if (args[0].equals(Child.SERVER)) {
                var server = OneSidedServer.start(plan);
                Child.serve(server, server.address().toString());
            } else {
                Child.measure(barrier -> new OneSidedClient(plan, HostAndPort.parse(args[2]), Long.parseLong(args[3]),
                        barrier));
            }
        });
    }
}
