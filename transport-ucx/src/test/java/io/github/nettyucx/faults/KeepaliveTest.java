// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.util.List;

/**
 * UCX looks whether peers are alive, in rounds that may stop at an endpoint until the next one, and does not notice when
 * that is destroyed meanwhile and had no lane for it any more: the next round reads what was freed.
 */
class KeepaliveTest {

    /** Rounds often, and each to stop at the next endpoint, if the transport let it. */
    private static final List<String> SHORT_ROUNDS =
            List.of("env", "UCX_KEEPALIVE_INTERVAL=2ms", "UCX_KEEPALIVE_NUM_EPS=1");
    private static final int SECONDS = 120;

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 150)
    void whoeverIsGoneIsNotLookedAtAgain() throws Exception {
        try (Child process = Child.start(SHORT_ROUNDS, List.of(), KeepaliveMain.class)) {
            String strangers = process.await("done", SECONDS);
            Faults.report("keepalive: lane %s: went on while %s strangers were turned away", Lane.current(), strangers);
        }
    }
}
