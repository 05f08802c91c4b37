// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.LaneSet;
import io.github.nettyucx.handshake.SharedSecret;
import io.github.nettyucx.worker.EnumSetting;
import io.netty.channel.ChannelException;
import io.netty.util.internal.SystemPropertyUtil;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;

/** What system properties say about channels that have not been told otherwise. */
final class ConfiguredDefaults {

    static final String LANES_PROPERTY = "io.github.nettyucx.lanes";
    static final String CONNECT_MODE_PROPERTY = "io.github.nettyucx.connectMode";
    static final String PLAIN_PEERS_PROPERTY = "io.github.nettyucx.plainPeers";
    static final String NETWORKS_PROPERTY = "io.github.nettyucx.networks";
    static final String SECRET_PROPERTY = "io.github.nettyucx.secretFile";

    static final LaneSet LANES = parsed(LANES_PROPERTY, LaneSet::parse, LaneSet.DEFAULT);
    static final UcxConnectMode CONNECT_MODE =
            EnumSetting.of(CONNECT_MODE_PROPERTY, UcxConnectMode.class, UcxConnectMode.UCX);
    /** {@code null} if the property is not set. */
    static final UcxPlainPeers PLAIN_PEERS = EnumSetting.of(PLAIN_PEERS_PROPERTY, UcxPlainPeers.class, null);

    /** Whose servers are asked by clients that are told {@link UcxConnectMode#ANNOUNCED}. */
    static final Networks NETWORKS = parsed(NETWORKS_PROPERTY, Networks::parse, Networks.NONE);

    /** Read when the first channel is made. */
    private static final class Secret {
        private static final SharedSecret FROM_FILE = read(SystemPropertyUtil.get(SECRET_PROPERTY));
    }

    private ConfiguredDefaults() {
    }

    private static <T> T parsed(String property, Function<String, T> parser, T byDefault) {
        String text = SystemPropertyUtil.get(property);
        try {
            return text == null ? byDefault : parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(property + ": " + e.getMessage(), e);
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
