// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.Arrays;

/** One of several names that a system property may say, in any case. */
public final class EnumSetting {

    private EnumSetting() {
    }

    /** @throws IllegalArgumentException if the property says another */
    public static <E extends Enum<E>> E of(String property, Class<E> type, E byDefault) {
        String text = System.getProperty(property);
        if (text == null) {
            return byDefault;
        }
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equalsIgnoreCase(text.strip())) {
                return constant;
            }
        }
        throw new IllegalArgumentException(property + ": '" + text + "' (expected: one of "
                + Arrays.toString(type.getEnumConstants()) + ')');
    }
}
