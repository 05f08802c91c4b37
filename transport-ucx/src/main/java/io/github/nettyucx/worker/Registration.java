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

    /** What is set, or {@link #AUTO} if that is wrong: see {@link IntSetting}. */
    static final Registration CONFIGURED;
    private static final String PROBLEM;

    static {
        Registration set = AUTO;
        String problem = null;
        try {
            set = EnumSetting.of(PROPERTY, Registration.class, AUTO);
        } catch (IllegalArgumentException e) {
            problem = e.getMessage();
        }
        CONFIGURED = set;
        PROBLEM = problem;
    }

    /** @throws IllegalArgumentException if what is set is wrong */
    static void check() {
        if (PROBLEM != null) {
            throw new IllegalArgumentException(PROBLEM);
        }
    }

    boolean appliesTo(LinkKind kind) {
        return this == ALWAYS || this == AUTO && kind == LinkKind.RDMA;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
