// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Answers a request, once. Any thread may, as long as the responder is valid.
 *
 * @param <R> the class of the response
 */
public final class Responder<R> {

    private Peer peer;
    private RequestType<?, R> type;
    private long correlation;

    Responder() {
    }

    void begin(Peer peer, RequestType<?, R> type, long correlation) {
        this.peer = peer;
        this.type = type;
        this.correlation = correlation;
    }

    /** Whether the request has been answered, or given up by the handler. */
    boolean isOpen() {
        return peer != null;
    }

    /** The same, valid until it has answered. This one is not valid any more. */
    public Responder<R> detach() {
        Responder<R> detached = new Responder<>();
        detached.begin(take(), type, correlation);
        return detached;
    }

    /**
     * Sends the response. It is not known whether the requester still waits for it.
     *
     * @throws IllegalStateException         if the request has been answered
     * @throws MessagingException.RingFull   if there is no room for it, as with {@link Peer#send}
     */
    public void respond(R response) {
        take().answer(Frame.RESPONSE, type.number(), correlation, type.response(), response);
    }

    /**
     * Tells the requester that there is no response: he gets a {@link MessagingException.RequestRefused}.
     *
     * @param reason for a person
     * @throws IllegalStateException if the request has been answered
     */
    public void fail(String reason) {
        take().answer(Frame.FAILURE, type.number(), correlation, StringCodec.INSTANCE, reason);
    }

    private Peer take() {
        Peer taken = peer;
        if (taken == null) {
            throw new IllegalStateException("the request has been answered already, or its handler has returned:"
                    + " detach() gives a responder for later");
        }
        peer = null;
        return taken;
    }
}
