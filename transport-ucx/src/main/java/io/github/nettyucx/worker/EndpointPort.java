// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCounted;

import java.io.IOException;

/**
 * One UCX endpoint as the wire protocol sees it: a link between two workers, which all channels between them share.
 * <p>
 * Every operation that may take time answers with a <em>status pointer</em>: 0 if it has completed already, a negative
 * {@code ucs_status_t} if it has failed, or a positive request that has to be polled with {@link #status(long)} and
 * given back with {@link #free(long)}. Memory that is handed over must stay valid until then. Requests make progress in
 * the turns of the loop, so asking for one more than once in a turn is a waste.
 * <p>
 * Only the event-loop thread may call.
 */
public interface EndpointPort {

    /**
     * Sends a tagged message. Messages of one endpoint arrive in the order of these calls. None is lost as long as the
     * endpoint lasts, unless {@link #losesMessages()}; to whom they go is for the receiving worker to find out by the channel
     * id in the tag.
     */
    long send(long address, long length, long tag);

    /**
     * Receives a message that a {@link MessageSink} was given; possible also when the endpoint has failed. A
     * {@code length} smaller than the message's discards the rest, and completes with
     * {@code UCS_ERR_MESSAGE_TRUNCATED}.
     */
    long receive(long message, long address, long length);

    /**
     * Whether the endpoint has failed, by UCX's report or because one of its operations has, and
     * {@link EndpointListener#endpointFailed} is about to tell of it, with the reason.
     */
    boolean isFailing();

    /** {@code UCS_INPROGRESS} (1), {@code UCS_OK} (0) or an error (negative). */
    int status(long request);

    /** UCX's name of a status. */
    static String nameOf(int status) {
        return UcsStatus.name(status);
    }

    /** Gives a completed request back to UCX. */
    void free(long request);

    /**
     * Leaves a running request to the worker, which frees it and releases {@code owner} when UCX has completed it,
     * however long that takes. The endpoint stays as it is: other channels use it.
     *
     * @param owner of the memory that the request uses, or {@code null}
     */
    void abandon(long request, ReferenceCounted owner);

    /** Receives a message for nobody: its bytes are dropped. */
    default void discard(long message) {
        long request = receive(message, 0, 0);
        if (request > 0) {
            abandon(request, null);
        }
    }

    /**
     * Attaches memory of the peer's, which both processes then see.
     *
     * @param key     as the peer's UCX has packed it
     * @param address of the memory, as the peer has it
     * @throws IOException if it cannot be reached so
     */
    default Attachment attach(byte[] key, long address) throws IOException {
        throw new IOException("no memory can be attached over this endpoint");
    }

    /** Has {@code operation} polled once in every turn of the loop until it answers {@code false}. */
    void track(InFlight operation);

    /**
     * Whether UCX can lose messages on this endpoint, or parts of them, and tell neither side. They keep their order then: what
     * is not here when a later one is has been lost.
     */
    default boolean losesMessages() {
        return false;
    }

    /**
     * Messages have been lost. UCX keeps the later parts of a message whose first part is lost as long as the worker lasts, and
     * has less room to receive into.
     */
    default void messagesLost() {
    }

    /** Has {@code task} looked at about once a second until it answers {@code false}. */
    void everySecond(EverySecond task);

    /** Has messages that carry {@code channelId} delivered to {@code sink}. No other may have that id. */
    void register(int channelId, MessageSink sink);

    /** Has messages that carry {@code channelId} dropped, and counted, from now on. */
    void unregister(int channelId);
}
