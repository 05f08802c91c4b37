// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/** Asks {@link Links} for a link; exactly one of its methods is called, on the event loop's thread. */
public interface LinkRequest {

    /**
     * There is no link: this handshake makes one, and others wait for it.
     *
     * @param offer the new half, pinned; goes back by {@link Links#complete} or {@link Links#abandon}
     */
    void make(LinkHalf offer);

    /**
     * There is a link by now.
     *
     * @param half this side's half, pinned
     * @param theirs number of the other half
     */
    void reuse(LinkHalf half, long theirs);

    /**
     * Whether that is too long to wait for another handshake to make the link. Asked again and again, and after
     * {@link Links#request} has returned.
     */
    boolean isTooLong(long nanos);

    /** @param reason why this side has no link on that lane */
    void unavailable(String reason);
}
