// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * The links of one event loop, as a serving side's handshake sees them. A link has two halves, one on each side, each with
 * a random number of its own. Every half that is returned is pinned once for it. None of these methods calls a handshake
 * or closes one. For the event loop's thread.
 */
public interface ServerLinks {

    /** A confirmed link to the client, pinned, or null if there is none. */
    LinkHalf held(LaneKind lane, Party client);

    /**
     * The link to the client that has these numbers, pinned, or null if there is none. It need not be confirmed yet:
     * who knows both numbers has completed his half, and his GO on the connection that made it is still on its way.
     */
    LinkHalf held(LaneKind lane, Party client, long own, long theirs);

    /**
     * Makes a half to the one that the client offers. It is pinned and not confirmed: if its last pin is released
     * before {@link #confirm}, it is to be given up.
     *
     * @param theirs number of the client's half
     * @param address of the client's worker, as he sent it
     * @throws LinkException if it cannot be made
     */
    LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] address) throws LinkException;

    /** GO has come, both halves exist. May be said more than once of a half. */
    void confirm(LinkHalf half);
}
