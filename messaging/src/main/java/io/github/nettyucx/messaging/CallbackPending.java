// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** A request whose answer goes to a callback. */
final class CallbackPending<R> extends Pending {

    private final ResponseHandler<R> handler;

    CallbackPending(ResponseHandler<R> handler) {
        this.handler = handler;
    }

    @Override
    @SuppressWarnings("unchecked")
    void succeed(Object response) {
        handler.onResponse((R) response);
    }

    @Override
    void fail(MessagingException cause) {
        handler.onFailure(cause);
    }
}
