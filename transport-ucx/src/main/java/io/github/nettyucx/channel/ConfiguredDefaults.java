// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.SharedSecret;
import io.netty.channel.ChannelException;
import io.netty.util.internal.SystemPropertyUtil;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** What system properties say about channels that have not been told otherwise. */
final class ConfiguredDefaults {

    static final String LANES_PROPERTY = "io.github.nettyucx.lanes";
    static final String CONNECT_MODE_PROPERTY = "io.github.nettyucx.connectMode";
    static final String PLAIN_PEERS_PROPERTY = "io.github.nettyucx.plainPeers";
    static final String NETWORKS_PROPERTY = "io.github.nettyucx.networks";
    static final String SECRET_PROPERTY = "io.github.nettyucx.secretFile";

    static final LaneSet LANES = lanes(SystemPropertyUtil.get(LANES_PROPERTY));
    static final UcxConnectMode CONNECT_MODE =
            constant(UcxConnectMode.class, CONNECT_MODE_PROPERTY, UcxConnectMode.UCX);
    /** {@code null} if the property is not set. */
    static final UcxPlainPeers PLAIN_PEERS = constant(UcxPlainPeers.class, PLAIN_PEERS_PROPERTY, null);

    /** Whose servers are asked by clients that are told {@link UcxConnectMode#ANNOUNCED}. */
    static final Networks NETWORKS = networks(SystemPropertyUtil.get(NETWORKS_PROPERTY));

    /** Read when the first channel is made. */
    private static final class Secret {
        private static final SharedSecret FROM_FILE = read(SystemPropertyUtil.get(SECRET_PROPERTY));
    }

    private ConfiguredDefaults() {
    }

    private static LaneSet lanes(String text) {
        try {
            return text == null ? LaneSet.DEFAULT : LaneSet.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(LANES_PROPERTY + ": " + e.getMessage(), e);
        }
    }

    private static Networks networks(String text) {
        try {
            return text == null ? Networks.NONE : Networks.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(NETWORKS_PROPERTY + ": " + e.getMessage(), e);
        }
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String property, E otherwise) {
        String text = SystemPropertyUtil.get(property);
        if (text == null) {
            return otherwise;
        }
        try {
            return Enum.valueOf(type, text.strip().toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(property + ": " + text + " (expected: one of "
                    + Arrays.toString(type.getEnumConstants()) + ')', e);
        }
    }

    /** The secret of the file that the property names, or {@code null}. */
    static SharedSecret secret() {
        return Secret.FROM_FILE;
    }

    private static SharedSecret read(String file) {
        try {
            return file == null ? null : SharedSecret.read(Path.of(file));
        } catch (IOException | IllegalArgumentException e) {
            throw new ChannelException(SECRET_PROPERTY + ": " + e.getMessage(), e);
        }
    }
}
