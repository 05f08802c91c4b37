// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Answers a request, once. Any thread may, as long as the responder is valid.
 *
 * @param <R> the class of the response
 */
public final class Responder<R> {

    private static final VarHandle PEER;

    static {
        try {
            PEER = MethodHandles.lookup().findVarHandle(Responder.class, "peer", Peer.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Taken by the first who answers. */
    private Peer peer;
    private RequestType<?, R> type;
    private long correlation;

    Responder() {
    }

    void begin(Peer peer, RequestType<?, R> type, long correlation) {
        this.type = type;
        this.correlation = correlation;
        PEER.setRelease(this, peer);
    }

    /** Whether the request has been answered, or given up by the handler. */
    boolean isOpen() {
        return PEER.getAcquire(this) != null;
    }

    /** The same, valid until it has answered. This one is not valid any more. */
    public Responder<R> detach() {
        Responder<R> detached = new Responder<>();
        detached.begin(take(), type, correlation);
        return detached;
    }

    /**
     * Sends the response. It is not known whether the requester still waits for it. If it cannot be sent the requester gets a
     * {@link MessagingException.RequestRefused} in place of it, as far as there is room for that.
     *
     * @throws IllegalStateException         if the request has been answered
     * @throws MessagingException.RingFull   if there is no room for it, as with {@link Peer#send}
     */
    public void respond(R response) {
        Peer to = take();
        try {
            to.answer(Frame.RESPONSE, type.number(), correlation, type.response(), response);
        } catch (Throwable e) {
            try {
                to.refuse(type.number(), correlation, e.toString(), !(e instanceof MessagingException.RingFull));
            } catch (Throwable unsent) {
                e.addSuppressed(unsent);
            }
            throw e;
        }
    }

    /**
     * Tells the requester that there is no response: he gets a {@link MessagingException.RequestRefused}.
     *
     * @param reason for a person; what is too long for a message is cut
     * @throws IllegalStateException if the request has been answered
     */
    public void fail(String reason) {
        take().refuse(type.number(), correlation, String.valueOf(reason), true);
    }

    private Peer take() {
        Peer taken = (Peer) PEER.getAndSet(this, null);
        if (taken == null) {
            throw new IllegalStateException("the request has been answered already, or its handler has returned:"
                    + " detach() gives a responder for later");
        }
        return taken;
    }
}
