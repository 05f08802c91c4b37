// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * The same, and what a connecting side's handshake asks of them. Every half that is handed over is pinned once for it. None
 * of these methods calls a handshake or closes one, but for the answers to requests.
 */
public interface Links extends ServerLinks {

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
