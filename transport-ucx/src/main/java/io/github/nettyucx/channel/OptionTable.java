// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** The options that one kind of channel has beside those of all channels, and what they stand for in its configuration. */
final class OptionTable<C extends ChannelConfig> {

    /** @param getter {@code null} if nobody is told */
    record Entry<C, T>(Function<C, T> getter, BiConsumer<C, T> setter) {
    }

    private final Map<ChannelOption<?>, Entry<C, ?>> entries = new LinkedHashMap<>();
    /** The JDK's options have the names of Netty's, and are others each time that Netty's NIO is asked for one. */
    private final Map<String, Entry<C, ?>> byName = new HashMap<>();

    /** Has the option stand for these methods. */
    <T> OptionTable<C> with(ChannelOption<T> option, Function<C, T> getter, BiConsumer<C, T> setter) {
        Entry<C, T> entry = new Entry<>(getter, setter);
        entries.put(option, entry);
        byName.put(option.name(), entry);
        return this;
    }

    /** @return {@code null} if there is no such option */
    @SuppressWarnings("unchecked")
    <T> Entry<C, T> entry(ChannelOption<T> option) {
        Entry<C, ?> entry = entries.get(option);
        return (Entry<C, T>) (entry != null ? entry : byName.get(option.name()));
    }

    /** Those whose values are told. */
    ChannelOption<?>[] told() {
        return entries.keySet().stream().filter(option -> entries.get(option).getter != null)
                .toArray(ChannelOption<?>[]::new);
    }
}
