// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.Objects;

/**
 * A kind of request. Both nodes have to give it the same number and codecs.
 *
 * @param number   1 to 65535; messages and requests share the numbers
 * @param request  writes and reads requests
 * @param response writes and reads responses
 * @param dispatch where the receiver handles requests; responses are handled on the event loop
 * @param <Q>      the class of the requests
 * @param <R>      the class of the responses
 */
public record RequestType<Q, R>(int number, Codec<Q> request, Codec<R> response, Dispatch dispatch) {

    /** @throws IllegalArgumentException if the number is out of range */
    public RequestType {
        MessageType.checkNumber(number);
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(response, "response");
        Objects.requireNonNull(dispatch, "dispatch");
    }

    /** Handled on the event loop. */
    public RequestType(int number, Codec<Q> request, Codec<R> response) {
        this(number, request, response, Dispatch.LOOP);
    }
}
