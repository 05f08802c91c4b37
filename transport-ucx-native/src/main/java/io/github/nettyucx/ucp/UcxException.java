// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.io.IOException;

/** A UCX call that failed. Made by {@link UcsStatus} only, so that every message reads alike. */
public final class UcxException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int status;

    UcxException(String message, int status) {
        super(message);
        this.status = status;
    }

    /** The {@code ucs_status_t}, a negative number: one of the {@code ERR_*} constants of {@link UcsStatus}. */
    public int status() {
        return status;
    }
}
