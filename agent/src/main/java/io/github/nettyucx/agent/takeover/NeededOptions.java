// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.nio.AbstractNioChannel;

import java.util.Map;
import java.util.Set;

/**
 * Options of the native transports that the transport's channels do not have, and that an application does not work without:
 * which addresses are bound to and seen, and who may speak at all. Also those that Netty hands to the kernel as they are, by their
 * numbers: they can be any, such as the one that binds a socket to a network.
 */
final class NeededOptions {

    private static final Set<String> NAMES = Set.of("IP_FREEBIND", "IP_TRANSPARENT", "IP_RECVORIGDSTADDR", "TCP_MD5SIG");

    /** Netty's class of options that are numbers of the kernel's; the package before it may be another one. */
    private static final String GENERIC = ".channel.unix.GenericUnixChannelOption";

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
            if (isGeneric(each.getKey()) || NAMES.contains(name) && !isOff(each.getValue())) {
                throw new LeftAsItWas("channels with the option " + name);
            }
        }
    }

    private static boolean isGeneric(ChannelOption<?> option) {
        for (Class<?> type = option.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().endsWith(GENERIC)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOff(Object value) {
        return value == null || value.equals(false) || value instanceof Map<?, ?> keys && keys.isEmpty();
    }
}
