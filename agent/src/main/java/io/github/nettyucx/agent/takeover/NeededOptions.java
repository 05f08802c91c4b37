// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.nio.AbstractNioChannel;

import java.util.Map;
import java.util.Set;

/**
 * Options of the native transports that the transport's channels do not have, and that an application does not work without:
 * which addresses are bound to and seen, and who may speak at all.
 */
final class NeededOptions {

    private static final Set<String> NAMES = Set.of("IP_FREEBIND", "IP_TRANSPARENT", "IP_RECVORIGDSTADDR", "TCP_MD5SIG");

    private NeededOptions() {
    }

    /**
     * @param ofFactory what the factory has set on the channel
     * @throws LeftAsItWas if there is one, of the order's, of its children's, or of the factory's
     */
    static void requireNone(Channel made, ChannelOrder order, Map<ChannelOption<?>, Object> ofFactory)
            throws LeftAsItWas {
        if (made instanceof AbstractNioChannel) {
            // Which does not know them either.
            return;
        }
        requireNone(ofFactory);
        requireNone(order.options());
        requireNone(order.childOptions());
    }

    private static void requireNone(Map<ChannelOption<?>, Object> options) throws LeftAsItWas {
        for (Map.Entry<ChannelOption<?>, Object> each : options.entrySet()) {
            String name = FactoryOptions.shortName(each.getKey());
            if (NAMES.contains(name) && !isOff(each.getValue())) {
                throw new LeftAsItWas("channels with the option " + name);
            }
        }
    }

    private static boolean isOff(Object value) {
        return value == null || value.equals(false) || value instanceof Map<?, ?> keys && keys.isEmpty();
    }
}
