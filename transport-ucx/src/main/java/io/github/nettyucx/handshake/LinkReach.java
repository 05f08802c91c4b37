// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * Asks {@link Links} whether a link reaches the other side. One of {@link #reached} and {@link #unreachable} at most is called,
 * on the loop's thread.
 */
public interface LinkReach {

    /** Whether that is too long for bytes to cross. Asked again and again, and after {@link Links#reach} has returned. */
    boolean isTooLong(long nanos);

    /** Whether there is another lane to take. Then others need not find out the same, for a while. */
    boolean hasOther();

    /** Bytes have crossed, or need not: the link can be used. */
    void reached();

    /** @param reason why the link is of no use; nobody else begins to use it, and its pin is still to be released */
    void unreachable(String reason);
}
