// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Is told how a request ends, once: on an event loop, on the thread that closes the node, or on the one
 * that sends if the loops have ended. What it throws is told to {@link NodeListener#failed}.
 *
 * @param <R> the class of the response
 */
public interface ResponseHandler<R> {

    /**
     * @param response the handler's to release, if its codec has a pool
     */
    void onResponse(R response);

    /**
     * @param cause why there is no response
     */
    void onFailure(MessagingException cause);
}
