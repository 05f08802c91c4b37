// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;

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

    /** Has the option stand for these methods. */
    <T> OptionTable<C> with(ChannelOption<T> option, Function<C, T> getter, BiConsumer<C, T> setter) {
        entries.put(option, new Entry<>(getter, setter));
        return this;
    }

    /** @return {@code null} if there is no such option */
    @SuppressWarnings("unchecked")
    <T> Entry<C, T> entry(ChannelOption<T> option) {
        return (Entry<C, T>) entries.get(option);
    }

    /** Those whose values are told. */
    ChannelOption<?>[] told() {
        return entries.keySet().stream().filter(option -> entries.get(option).getter != null)
                .toArray(ChannelOption<?>[]::new);
    }
}
