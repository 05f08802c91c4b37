// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** Which threads may use a context or a worker. */
public enum UcsThreadMode {

    /** One thread. */
    SINGLE(UcpConstants.UCS_THREAD_MODE_SINGLE),
    /** Several threads, one at a time. */
    SERIALIZED(UcpConstants.UCS_THREAD_MODE_SERIALIZED),
    /** Several threads at the same time: contexts that are shared by workers, but not workers themselves. */
    MULTI(UcpConstants.UCS_THREAD_MODE_MULTI);

    final int value;

    UcsThreadMode(int value) {
        this.value = value;
    }

    static UcsThreadMode of(int value) {
        for (UcsThreadMode mode : values()) {
            if (mode.value == value) {
                return mode;
            }
        }
        throw new IllegalArgumentException("UCX has a thread mode that is unknown here: " + value);
    }
}
