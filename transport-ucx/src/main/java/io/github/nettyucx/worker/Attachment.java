// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcpRemoteKey;

/**
 * Memory of a peer's that this process sees as its own. Only for the loop's thread; to be closed before the worker.
 *
 * @param address where this process has it
 */
public record Attachment(UcpRemoteKey key, long address) implements AutoCloseable {

    /** Zeros behind a key. What UCX reads of a damaged one ends in them. */
    public static final int KEY_PADDING = 1024;

    /** Whoever still uses the address then reads or writes memory that is not there. */
    @Override
    public void close() {
        key.close();
    }
}
