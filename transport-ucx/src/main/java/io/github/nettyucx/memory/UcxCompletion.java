// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

/**
 * Is told what has become of operations, without anything being allocated for each. One object can serve any number of
 * them at a time.
 */
@FunctionalInterface
public interface UcxCompletion {

    /**
     * Called once for each operation, on the event loop's thread; it may be before the call that began the operation
     * has returned.
     *
     * @param id    that the operation was begun with
     * @param value what was there before an atomic operation; 0 for others, and if it has failed
     * @param cause why it has failed, or {@code null}
     */
    void done(long id, long value, Throwable cause);
}
