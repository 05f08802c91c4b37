// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import java.util.EnumSet;
import java.util.Set;

/** What a peer may do with a region of memory. */
public enum UcxMemoryRight {
    /** To get bytes. */
    READ(1),
    /** To put bytes, and to notify. */
    WRITE(2),
    /** To change 64-bit values atomically, and to learn what they were. */
    ATOMIC(4);

    static final int ALL_BITS = 7;

    private final int bit;

    UcxMemoryRight(int bit) {
        this.bit = bit;
    }

    int bit() {
        return bit;
    }

    static int bits(UcxMemoryRight... rights) {
        int bits = 0;
        for (UcxMemoryRight right : rights) {
            bits |= right.bit;
        }
        return bits;
    }

    static Set<UcxMemoryRight> of(int bits) {
        Set<UcxMemoryRight> rights = EnumSet.noneOf(UcxMemoryRight.class);
        for (UcxMemoryRight right : values()) {
            if ((bits & right.bit) != 0) {
                rights.add(right);
            }
        }
        return rights;
    }
}
