// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.Locale;

/**
 * For which links a loop keeps memory that is registered with UCX once, and not for each operation: UCX's own cache of
 * registrations is off. Shared memory and TCP need no registration.
 */
enum Registration {
    /** For RDMA. */
    AUTO,
    /** For all links: UCX takes registered memory everywhere. */
    ALWAYS,
    NEVER;

    static final String PROPERTY = "io.github.nettyucx.registration";

    /** @throws IllegalArgumentException if what is set is wrong */
    static Registration configured() {
        return EnumSetting.of(PROPERTY, Registration.class, AUTO);
    }

    boolean appliesTo(LinkKind kind) {
        return this == ALWAYS || this == AUTO && kind == LinkKind.RDMA;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
