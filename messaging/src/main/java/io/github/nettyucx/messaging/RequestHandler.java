// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Is given requests of one type.
 *
 * @param <Q> their class
 * @param <R> the class of the responses
 */
@FunctionalInterface
public interface RequestHandler<Q, R> {

    /**
     * What it throws is the answer, as with {@link Responder#fail}.
     *
     * @param from      who has sent it
     * @param request   released by its codec when the handler returns
     * @param responder valid until the handler returns; {@link Responder#detach} gives one for later
     */
    void onRequest(Peer from, Q request, Responder<R> responder) throws Exception;
}
