// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/**
 * The same, and what a connecting side's handshake asks of them. Every half that is handed over is pinned once for it. None
 * of these methods calls a handshake or closes one, but for the answers to requests and to {@link #reach}.
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
     * @return the half, with the number that was offered; to be used when {@link #reach} has been answered
     * @throws LinkException if it cannot be used; the half is gone then
     */
    LinkHalf complete(LinkHalf offered, long theirs, byte[] address) throws LinkException;

    /**
     * Finds out whether bytes cross a link that was just completed: to make both halves does not take a network that leads
     * from one to the other. Answered by one call of a method of {@code asking}, within this call or later, unless the half
     * is released before. The others who wait for the link go on waiting until then.
     */
    void reach(LinkHalf completed, LinkReach asking);

    /**
     * A half that was offered by {@link LinkRequest#make} is not completed. It is gone with this call.
     *
     * @param told whether the server may have been told of it, and may have made its own half
     */
    void abandon(LinkHalf offered, boolean told);

    /** The server does not have the link any more: nobody may begin to use it. Releases the pin. */
    void stale(LinkHalf half);

    /** Takes back a request that was not answered yet. It is not answered any more. */
    void withdraw(LinkRequest request);
}
