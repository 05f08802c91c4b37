// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The options that a factory of the application's own has given to the channel that it has made. They are compared by their
 * names: the JDK's are other objects each time, and each transport has its own of the same meaning.
 */
final class FactoryOptions {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.github.nettyucx.agent");

    /** They are in a third one together: each has its bound in the other, and the order of options is left to chance. */
    private static final Set<String> IN_ANOTHER = Set.of("WRITE_BUFFER_HIGH_WATER_MARK", "WRITE_BUFFER_LOW_WATER_MARK");
    /** Of the JDK's. Netty's NIO takes its own option for this one, and so for the contrary of what it is called. */
    private static final String LOOP = "IP_MULTICAST_LOOP";
    private static final String LOOP_DISABLED = ChannelOption.IP_MULTICAST_LOOP_DISABLED.name();
    private static final String SOCKET_CHANNEL = "SocketChannel";
    /** Which channels that have it do not list it. */
    private static final String UNLISTED = "ChannelOption#TCP_USER_TIMEOUT";

    /** As the kernel has them, they are twice what was set, which it doubles again; the JDK takes the half. */
    private static final Set<String> DOUBLED = Set.of("SO_RCVBUF", "SO_SNDBUF");

    /** What options a channel of a class has that nobody has touched, by their names. */
    private final Map<Class<?>, Map<String, Object>> untouched = new ConcurrentHashMap<>();

    /** @return those that a new channel of its class has not, or not so */
    Map<ChannelOption<?>, Object> setOn(Channel made) {
        Map<String, Object> found = untouched.computeIfAbsent(made.getClass(), FactoryOptions::optionsOfAnother);
        // Else all are taken for touched.
        Map<String, Object> usual = found == null ? Map.of() : found;
        Map<ChannelOption<?>, Object> all = all(made);
        all.entrySet().removeIf(each -> each.getValue() == null
                || Objects.equals(each.getValue(), usual.get(each.getKey().name())));
        return all;
    }

    private static Map<ChannelOption<?>, Object> all(Channel channel) {
        Map<ChannelOption<?>, Object> all = new HashMap<>(channel.config().getOptions());
        String type = channel.getClass().getName();
        if (type.endsWith(SOCKET_CHANNEL)) {
            String name = type.substring(0, type.length() - SOCKET_CHANNEL.length()) + UNLISTED;
            if (ChannelOption.exists(name)) {
                ChannelOption<?> unlisted = ChannelOption.valueOf(name);
                all.put(unlisted, channel.config().getOption(unlisted));
            }
        }
        return all;
    }

    /** @return empty if its class can make none, and {@code null} if that has failed, as it may not another time */
    private static Map<String, Object> optionsOfAnother(Class<?> type) {
        try {
            Channel another = (Channel) type.getConstructor().newInstance();
            try {
                Map<String, Object> byName = new HashMap<>();
                all(another).forEach((option, value) -> byName.put(option.name(), value));
                return byName;
            } finally {
                another.unsafe().closeForcibly();
            }
        } catch (InvocationTargetException e) {
            // There may be no descriptor for it.
            return null;
        } catch (ReflectiveOperationException e) {
            return Map.of();
        }
    }

    /** What the other channel does not know, and the values that it does not take, have no effect. */
    static void copy(Map<ChannelOption<?>, Object> options, Channel from, Channel to) {
        Map<String, ChannelOption<?>> known = new HashMap<>();
        to.config().getOptions().keySet().forEach(option -> known.put(shortName(option), option));
        options.forEach((option, value) -> {
            String name = shortName(option);
            if (IN_ANOTHER.contains(name) || name.equals(LOOP_DISABLED) && from instanceof AbstractNioChannel) {
                return;
            }
            if (name.equals(LOOP) && value instanceof Boolean on) {
                set(to, ChannelOption.IP_MULTICAST_LOOP_DISABLED, !on);
            } else if (DOUBLED.contains(name) && value instanceof Integer size && !(from instanceof AbstractNioChannel)) {
                set(to, known.getOrDefault(name, option), size / 2);
            } else {
                set(to, known.getOrDefault(name, option), value);
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static <T> void set(Channel channel, ChannelOption<T> option, Object value) {
        try {
            channel.config().setOption(option, (T) value);
        } catch (RuntimeException e) {
            logger.debug("{} goes without the option {} = {} of the channel that it replaces.", channel, option, value, e);
        }
    }

    /** Without the class that stands before it. */
    static String shortName(ChannelOption<?> option) {
        String name = option.name();
        return name.substring(name.lastIndexOf('#') + 1);
    }
}
