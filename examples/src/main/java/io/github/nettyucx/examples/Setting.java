// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.ArrayList;
import java.util.List;

/**
 * The transport of one measurement.
 *
 * @param lane {@link Lane#AUTO} for transports that have no choice
 * @param waitMode {@code null} for the transport's own default
 */
public record Setting(TransportKind transport, Lane lane, WaitMode waitMode) {

    /** One setting for each transport, and for each lane where a transport has lanes. */
    public static List<Setting> all(List<TransportKind> transports, List<Lane> lanes, WaitMode waitMode) {
        var settings = new ArrayList<Setting>();
        for (var transport : transports) {
            if (transport == TransportKind.UCX) {
                lanes.forEach(lane -> settings.add(new Setting(transport, lane, waitMode)));
            } else {
                settings.add(new Setting(transport, Lane.AUTO, null));
            }
        }
        return List.copyOf(settings);
    }

    /** Has to come before this process touches the transport. */
    public void apply() {
        lane.apply();
        if (waitMode != null) {
            waitMode.apply();
        }
    }

    /** The arguments that make another process use this setting. */
    public List<String> arguments() {
        var arguments = new ArrayList<>(List.of("--transport", transport.toString()));
        if (lane != Lane.AUTO) {
            arguments.addAll(List.of("--lane", lane.toString()));
        }
        if (waitMode != null) {
            arguments.addAll(List.of("--wait", waitMode.toString()));
        }
        return arguments;
    }

    @Override
    public String toString() {
        return lane == Lane.AUTO ? transport.toString() : transport + " over " + lane;
    }
}
