// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * The links of one event loop, as a handshake sees them. A link has two halves, one on each side, each with a random
 * number of its own. Every half that is returned or handed over is pinned once for it. None of these methods calls a
 * handshake or closes one, but for the answers to requests. For the event loop's thread.
 */
public interface Links {

    // The serving side.

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

    // The connecting side.

    /** The confirmed link to the server whose other half has that number, pinned, or null if there is none. */
    LinkHalf match(LaneKind lane, Party server, long theirs);

    /**
     * Asks for a link to the server. Answered by exactly one call of the request's methods, within this call or later:
     * one handshake makes a link, the others wait for it. If that one fails, the next in the row is to make it.
     */
    void request(LaneKind lane, Party server, LinkRequest request);

    /**
     * Makes a half that was offered usable: the server has one to it.
     *
     * @param offered by {@link LinkRequest#make}; what is returned takes over its pin
     * @param theirs number of the server's half
     * @param address of the server's worker, as he sent it
     * @return the half, with the number that was offered; confirmed
     * @throws LinkException if it cannot be used; the half is gone then
     */
    LinkHalf complete(LinkHalf offered, long theirs, byte[] address) throws LinkException;

    /** A half that was offered by {@link LinkRequest#make} is not completed. It is gone with this call. */
    void abandon(LinkHalf offered);

    /** The server does not have the link any more: nobody may begin to use it. Releases the pin. */
    void stale(LinkHalf half);

    /** Takes back a request that was not answered yet. It is not answered any more. */
    void withdraw(LinkRequest request);
}
